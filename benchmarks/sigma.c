// sigma: main counts an index up and starts a thread each time; the threads write where the index points by then.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 3.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int array[N];
static atomic_int idx;

static void *setter(void *unused) {
    atomic_store(&array[atomic_load(&idx)], 1);
    return unused;
}

int main(void) {
    pthread_t threads[N];
    atomic_init(&idx, -1);
    for (int i = 0; i < N; i++) {
        atomic_store(&idx, atomic_load(&idx) + 1);
        pthread_create(&threads[i], 0, setter, 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
