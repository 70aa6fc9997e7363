// raddle: --unroll 3
// Nobody sees half of an atomic block that a bound cuts short: not what it stored, took, gave back or started.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x, started;
static int plain;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *heap;

static void *child(void *arg) {
    started = 1;
    return arg;
}

static void *block(void *arg) {
    pthread_t t;
    __VERIFIER_atomic_begin();
    x = 1;
    if (__VERIFIER_nondet_bool()) {
        plain = 1;
        pthread_mutex_trylock(&m);
        free(heap);
        pthread_create(&t, 0, child, 0);
        while (1)
            x = 2;
    }
    x = 0;
    __VERIFIER_atomic_end();
    return arg;
}

int main(void) {
    pthread_t t;
    heap = malloc(sizeof *heap);
    *heap = 5;
    pthread_create(&t, 0, block, 0);
    assert(x == 0);
    assert(plain == 0);
    assert(pthread_mutex_trylock(&m) == 0);
    assert(*heap == 5);
    pthread_mutex_unlock(&m);
    assert(started == 0);
    return 0;
}
