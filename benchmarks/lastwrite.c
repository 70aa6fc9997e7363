// lastwrite: N threads write one variable; main reads it when all are done.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 3. N! orders of the writes, but only the last one is read.

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

static void *writer(void *arg) {
    atomic_store_explicit(&x, (int)(long)arg, ORDER);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, writer, (void *)(i + 1));
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    atomic_load_explicit(&x, ORDER);
    return 0;
}
