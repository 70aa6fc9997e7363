// exit runs what was registered, last one first; quick_exit runs what was registered for it; _exit and abort run nothing.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
_Bool __VERIFIER_nondet_bool(void);

static int ran;

static void third(void) { assert(ran++ == 2); }
static void second(void) { assert(ran++ == 1); }
static void first(void) {
    assert(ran++ == 0);
    atexit(second); // is run next
}
static void quick(void) { assert(ran == 0); }
static void never(void) { assert(0); }

__attribute__((destructor)) static void last(void) { assert(ran == 3); }

static void *leave(void *arg) {
    if (__VERIFIER_nondet_bool())
        exit(0);
    at_quick_exit(quick);
    if (__VERIFIER_nondet_bool())
        quick_exit(0);
    atexit(never);
    _exit(0);
}

int main(void) {
    pthread_t t;
    atexit(third);
    atexit(first);
    pthread_create(&t, 0, leave, 0);
    pthread_join(t, 0);
    assert(0);
}
