// redundant-co: two threads write x N times each, a third reads it twice; most orders of the writes are never seen.
//
// Reads-from equivalence under SC (OOPSLA 2019). 3N^2 + 3N + 1 reads-from classes.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int x;

static void *writer(void *arg) {
    for (int i = 0; i < N; i++) {
        atomic_store(&x, (int)(long)arg);
    }
    return 0;
}

static void *reader(void *unused) {
    atomic_load(&x);
    atomic_load(&x);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, (void *)1L);
    pthread_create(&thread, 0, writer, (void *)2L);
    pthread_create(&thread, 0, reader, 0);
    return 0;
}
