// sigma: main counts an index up and starts a thread each time; the threads write where the index points by then.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 3.

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

static atomic_int array[N];
static atomic_int idx;

static void *setter(void *unused) {
    atomic_store_explicit(&array[atomic_load_explicit(&idx, ORDER)], 1, ORDER);
    return unused;
}

int main(void) {
    pthread_t threads[N];
    atomic_init(&idx, -1);
    for (int i = 0; i < N; i++) {
        atomic_store_explicit(&idx, atomic_load_explicit(&idx, ORDER) + 1, ORDER);
        pthread_create(&threads[i], 0, setter, 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
