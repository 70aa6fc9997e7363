// myexample: N threads write their number to x and read x.
//
// Reads-from equivalence under SC (OOPSLA 2019), figure 1 for N=2. (N+1)^(N-1) reads-from classes.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static atomic_int x;

static void *write_and_read(void *arg) {
    atomic_store(&x, (int)(long)arg);
    atomic_load(&x);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, write_and_read, (void *)(i + 1));
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
