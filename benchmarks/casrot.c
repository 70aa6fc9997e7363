// casrot: thread i of N tries to turn x from i-1 into i.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 2.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int x;

static void *rotate(void *arg) {
    int i = (int)(long)arg;
    int expected = i - 1;
    atomic_compare_exchange_strong(&x, &expected, i);
    return 0;
}

int main(void) {
    pthread_t thread;
    for (long i = 1; i <= N; i++) {
        pthread_create(&thread, 0, rotate, (void *)i);
    }
    return 0;
}
