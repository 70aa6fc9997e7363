// lastzero: N writers fill an array, each from its left neighbour; a reader looks for the last zero from the right.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 1.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int array[N + 1];

static void *reader(void *unused) {
    int i = N;
    while (atomic_load(&array[i]) != 0) {
        i--;
    }
    return unused;
}

static void *writer(void *arg) {
    long j = (long)arg;
    atomic_store(&array[j], atomic_load(&array[j - 1]) + 1);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    for (long j = 1; j <= N; j++) {
        pthread_create(&thread, 0, writer, (void *)j);
    }
    return 0;
}
