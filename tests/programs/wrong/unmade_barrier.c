// raddle: --check memory
// The barrier is made when the other thread may be there already.
#include <pthread.h>

pthread_barrier_t barrier;

void *meet(void *arg) {
    pthread_barrier_wait(&barrier);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, meet, 0);
    pthread_barrier_init(&barrier, 0, 2);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, 0);
    return 0;
}
