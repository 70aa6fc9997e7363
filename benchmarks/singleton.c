// singleton: N threads write one variable, one of them another value than the rest; main reads it when all are done.
//
// Reads-value-from equivalence (CAV 2021). N! orders, N writes to read from, two values.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_char instance;

static void *create(void *arg) {
    atomic_store(&instance, (long)arg == 0 ? 'X' : 'Y');
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, create, (void *)i);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    atomic_load(&instance);
    return 0;
}
