// mutex: N threads pass once each through a lock that is built on a futex; those who wait are counted, and only then woken.
//
// Awaiting for Godot (FMCAD 2022), table I. The futex is a counter of wake-ups.
// With ASSUME, simple waits are assumptions; with BOUND, other loops are cut.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 2
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

enum { FREE, TAKEN };

static atomic_int state;
static atomic_int waiters;
static atomic_int wakeups;
static int shared;

/* A futex: sleeps if the lock still has this value, until the next wake-up. */
static void sleep_if(int value) {
    int before = atomic_load(&wakeups);
    if (atomic_load(&state) == value) {
        AWAIT(atomic_load(&wakeups) != before);
    }
}

static void wake(void) { atomic_fetch_add(&wakeups, 1); }

static bool try_lock(void) {
    int expected = FREE;
    return atomic_compare_exchange_strong(&state, &expected, TAKEN);
}

static void lock(void) {
    if (try_lock()) {
        return;
    }
    atomic_fetch_add(&waiters, 1);
    FOREVER {
        sleep_if(TAKEN);
        if (try_lock()) {
            break;
        }
    }
    atomic_fetch_sub(&waiters, 1);
}

static void unlock(void) {
    atomic_store(&state, FREE);
    if (atomic_load(&waiters) > 0) {
        wake();
    }
}

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
