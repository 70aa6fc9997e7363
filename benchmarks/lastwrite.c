// lastwrite: N threads write one variable; main reads it when all are done.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 3. N! orders of the writes, but only the last one is read.

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
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    atomic_load(&x);
    return 0;
}
