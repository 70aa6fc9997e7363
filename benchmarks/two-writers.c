// two-writers: two threads write the same value, a third reads: before or after is all that can be told.
//
// Maximal causality reduction (PLDI 2015): 2 executions where there are 3 reads-from classes.

#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *writer(void *unused) {
    atomic_store(&x, 1);
    return unused;
}

static void *reader(void *unused) {
    atomic_load(&x);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    pthread_create(&thread, 0, writer, 0);
    pthread_create(&thread, 0, reader, 0);
    return 0;
}
