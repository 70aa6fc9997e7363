// One thread has come through the barrier; the other may not have left it when it is destroyed.
#include <pthread.h>

static pthread_barrier_t barrier;

static void *work(void *arg) {
    pthread_barrier_wait(&barrier);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&t, 0, work, 0);
    pthread_barrier_wait(&barrier);
    pthread_barrier_destroy(&barrier);
    pthread_join(t, 0);
    return 0;
}
