// The barrier is made anew when the other thread may not have left it: then it waits for another round.
#include <pthread.h>

static pthread_barrier_t barrier;

static void *work(void *arg) {
    pthread_barrier_wait(&barrier);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, work, 0);
    pthread_barrier_wait(&barrier);
    pthread_barrier_init(&barrier, 0, 2);
    pthread_join(thread, 0);
    return 0;
}
