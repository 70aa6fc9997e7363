// floating-read: N threads write one variable, and main reads it once at any time.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 3; float_r of the ordering-consistency paper, table 8.
// (N+1)! orders, but only N+1 writes (the initial one included) to read from.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int x;

static void *writer(void *arg) {
    atomic_store(&x, (int)(long)arg);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, writer, (void *)(i + 1));
    }
    assert(atomic_load(&x) < N + 1);
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
