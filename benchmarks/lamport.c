// lamport: Lamport's fast mutual exclusion (algorithm 2), ROUNDS passes for each of N threads. A wait is an assumption, or,
// with TRIES, a loop that looks at most so many times.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 4: N threads, one pass each. In the ordering-consistency paper, table 8,
// there are two threads, and the number in parentheses bounds their loops: that is TRIES, not N.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef TRIES
#define TRIES 1
#endif

static atomic_int x;
static atomic_int y;
static atomic_int b[N + 1];
static atomic_int in_critical;

static void await_zero(atomic_int *flag) {
    int tries = 1;
    while (atomic_load(flag) != 0) {
        __VERIFIER_assume(tries++ < TRIES);
    }
}

static void pass(int t) {
    for (;;) {
        atomic_store(&b[t], 1);
        atomic_store(&x, t);
        if (atomic_load(&y) != 0) {
            atomic_store(&b[t], 0);
            await_zero(&y);
            continue;
        }
        atomic_store(&y, t);
        if (atomic_load(&x) != t) {
            atomic_store(&b[t], 0);
            for (int j = 1; j <= N; j++) {
                await_zero(&b[j]);
            }
            if (atomic_load(&y) != t) {
                await_zero(&y);
                continue;
            }
        }
        break;
    }
    atomic_store(&in_critical, t);
    assert(atomic_load(&in_critical) == t);
    atomic_store(&y, 0);
    atomic_store(&b[t], 0);
}

static void *passes(void *arg) {
    for (int round = 0; round < ROUNDS; round++) {
        pass((int)(long)arg);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    for (long t = 1; t <= N; t++) {
        pthread_create(&thread, 0, passes, (void *)t);
    }
    return 0;
}
