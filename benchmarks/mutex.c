// mutex: N threads pass once each through a lock with three states (free, taken, taken and contended), as one builds it on
// futexes; sleeping is a loop that waits for the state to change.
//
// Awaiting for Godot (FMCAD 2022), table I. With BOUND, simple waits are assumptions, other loops are cut after BOUND iterations.

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
#define AWAIT(condition) __VERIFIER_assume(condition)
#else
#define FOREVER for (;;)
#define AWAIT(condition) while (!(condition)) {}
#endif

enum { FREE, TAKEN, CONTENDED };

static atomic_int state;
static int shared;

static void sleep_while_contended(void) {
    AWAIT(atomic_load(&state) != CONTENDED);
}

static void lock(void) {
    int expected = FREE;
    if (atomic_compare_exchange_strong(&state, &expected, TAKEN)) {
        return;
    }
    FOREVER {
        if (atomic_exchange(&state, CONTENDED) == FREE) {
            break;
        }
        sleep_while_contended();
    }
}

static void unlock(void) {
    if (atomic_fetch_sub(&state, 1) != TAKEN) {
        atomic_store(&state, FREE);
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
