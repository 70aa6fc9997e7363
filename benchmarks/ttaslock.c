// ttaslock: N threads pass through a test-and-test-and-set lock once each.
//
// Awaiting for Godot (FMCAD 2022), table I. With ASSUME, simple waits are assumptions; with BOUND, other loops are cut.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 3
#endif
#ifdef BOUND
#define FOREVER for (int k_ = 0;; __VERIFIER_assume(++k_ < BOUND))
#else
#define FOREVER for (;;)
#endif
#ifdef ASSUME
#define AWAIT(condition) __VERIFIER_assume(condition)
#else
#define AWAIT(condition) while (!(condition)) {}
#endif

static atomic_bool taken;
static int shared;

static void lock(void) {
    FOREVER {
        AWAIT(!atomic_load(&taken));
        if (!atomic_exchange(&taken, true)) {
            break;
        }
    }
}

static void unlock(void) { atomic_store(&taken, false); }

static void *pass(void *arg) {
    int id = (int)(long)arg;
    lock();
    shared = id;
    assert(shared == id);
    unlock();
    return 0;
}

int main(void) {
    pthread_t thread;
    for (long i = 0; i < N; i++) {
        pthread_create(&thread, 0, pass, (void *)i);
    }
    return 0;
}
