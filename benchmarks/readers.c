// readers: one writer and N readers of one variable.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 2. Each reader is before or after the writer: 2^N.

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

static void *writer(void *unused) {
    atomic_store_explicit(&x, 42, ORDER);
    return unused;
}

static void *reader(void *unused) {
    atomic_load_explicit(&x, ORDER);
    return unused;
}

int main(void) {
    pthread_t threads[N + 1];
    pthread_create(&threads[0], 0, writer, 0);
    for (int i = 1; i <= N; i++) {
        pthread_create(&threads[i], 0, reader, 0);
    }
    for (int i = 0; i <= N; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
