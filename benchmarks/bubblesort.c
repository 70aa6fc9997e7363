// bubblesort: N threads make one pass each over an array of N numbers in descending order, without synchronisation.
//
// Maximal causality reduction (PLDI 2015). The array need not be sorted at the end.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int a[N];

static void *pass(void *unused) {
    for (int i = 0; i < N - 1; i++) {
        int left = atomic_load(&a[i]);
        int right = atomic_load(&a[i + 1]);
        if (left > right) {
            atomic_store(&a[i], right);
            atomic_store(&a[i + 1], left);
        }
    }
    return unused;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) {
        atomic_init(&a[i], N - i);
    }
    for (int i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, pass, 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    for (int i = 0; i < N - 1; i++) {
        assert(atomic_load(&a[i]) <= atomic_load(&a[i + 1]));
    }
    return 0;
}
