// co-2+2w: N threads write their number (from 0) to x twice; main reads it when all are done.
//
// CO-2+2W of the ordering-consistency paper, table 8. (2N)! / 2^N orders of the writes.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int x;

static void *writer(void *arg) {
    int id = (int)(long)arg;
    atomic_store(&x, id);
    atomic_store(&x, id);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, writer, (void *)i);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    assert(atomic_load(&x) != N);
    return 0;
}
