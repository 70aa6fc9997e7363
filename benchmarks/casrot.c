// casrot: thread i of N tries to turn x from i-1 into i.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 2.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

// Relaxed accesses are for the memory model of the language.
#ifdef RELAXED
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_seq_cst
#endif

static atomic_int x;

static void *rotate(void *arg) {
    int i = (int)(long)arg;
    int expected = i - 1;
    atomic_compare_exchange_strong_explicit(&x, &expected, i, ORDER, ORDER);
    return 0;
}

int main(void) {
    pthread_t thread;
    for (long i = 1; i <= N; i++) {
        pthread_create(&thread, 0, rotate, (void *)i);
    }
    return 0;
}
