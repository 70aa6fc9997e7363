// mutex-musl: N threads pass once each through a lock with a counter of waiters, in the manner of musl's: spin a little while
// nobody sleeps, then announce oneself, mark the lock as contended and sleep.
//
// Awaiting for Godot (FMCAD 2022), table I. Sleeping is a loop that waits for the lock to change.
// With BOUND, simple waits are assumptions, other loops are cut after BOUND iterations.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 2
#endif
#define SPINS 1
#ifdef BOUND
#define FOREVER for (int k_ = 0;; __VERIFIER_assume(++k_ < BOUND))
#define AWAIT(condition) __VERIFIER_assume(condition)
#else
#define FOREVER for (;;)
#define AWAIT(condition) while (!(condition)) {}
#endif

enum { FREE, TAKEN, CONTENDED };

static atomic_int state;
static atomic_int waiters;
static atomic_int wakeups;
static int shared;

static bool try_lock(void) {
    int expected = FREE;
    return atomic_compare_exchange_strong(&state, &expected, TAKEN);
}

static void lock(void) {
    if (try_lock()) {
        return;
    }
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&state) == FREE || atomic_load(&waiters) != 0) {
            break;
        }
    }
    FOREVER {
        if (try_lock()) {
            break;
        }
        atomic_fetch_add(&waiters, 1);
        int expected = TAKEN;
        atomic_compare_exchange_strong(&state, &expected, CONTENDED);
        AWAIT(atomic_load(&state) != CONTENDED);
        atomic_fetch_sub(&waiters, 1);
    }
}

static void unlock(void) {
    int sleeping = atomic_load(&waiters);
    if (atomic_exchange(&state, FREE) == CONTENDED || sleeping != 0) {
        atomic_fetch_add(&wakeups, 1);
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
