// new-source: what the first thread can read is written in part behind a read of the second thread.
//
// Reads-value-from equivalence (CAV 2021), figure 6: 5 classes of reads-from, 2 executions of RVF-SMC.

#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *first(void *arg) {
    (void)arg;
    atomic_store(&x, 1);
    long read = atomic_load(&x);
    atomic_store(&y, 1);
    return (void *)read;
}

static void *second(void *arg) {
    (void)arg;
    atomic_store(&x, 1);
    atomic_store(&y, 1);
    long read = atomic_load(&y);
    atomic_store(&x, 2);
    return (void *)read;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    return 0;
}
