// engines: naive, dpor, rf, rvf, mcr
// A barrier is freed by the first thread that leaves it, or by one that did not come to it.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *arg) {
    pthread_barrier_wait(arg);
    return 0;
}

int main(void) {
    pthread_barrier_t *barrier = malloc(sizeof *barrier);
    pthread_barrier_init(barrier, 0, 2);
    pthread_t one, two;
    pthread_create(&one, 0, work, barrier);
    pthread_create(&two, 0, work, barrier);
    free(barrier);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
