// lamport: Lamport's fast mutual exclusion (algorithm 2), one pass for each of N threads; waits are assumptions.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 4; also in the ordering-consistency paper, table 8.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 2
#endif

static atomic_int x;
static atomic_int y;
static atomic_int b[N + 1];
static atomic_int in_critical;

static void *pass(void *arg) {
    int t = (int)(long)arg;
    for (;;) {
        atomic_store(&b[t], 1);
        atomic_store(&x, t);
        if (atomic_load(&y) != 0) {
            atomic_store(&b[t], 0);
            __VERIFIER_assume(atomic_load(&y) == 0);
            continue;
        }
        atomic_store(&y, t);
        if (atomic_load(&x) != t) {
            atomic_store(&b[t], 0);
            for (int j = 1; j <= N; j++) {
                __VERIFIER_assume(atomic_load(&b[j]) == 0);
            }
            if (atomic_load(&y) != t) {
                __VERIFIER_assume(atomic_load(&y) == 0);
                continue;
            }
        }
        break;
    }
    atomic_store(&in_critical, t);
    assert(atomic_load(&in_critical) == t);
    atomic_store(&y, 0);
    atomic_store(&b[t], 0);
    return 0;
}

int main(void) {
    pthread_t thread;
    for (long t = 1; t <= N; t++) {
        pthread_create(&thread, 0, pass, (void *)t);
    }
    return 0;
}
