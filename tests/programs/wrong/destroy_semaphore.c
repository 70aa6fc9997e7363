// Whoever was let go may destroy the semaphore before the other thread is done with it.
#include <pthread.h>
#include <semaphore.h>

static sem_t done;

static void *work(void *arg) {
    sem_post(&done);
    int value;
    sem_getvalue(&done, &value);
    return arg;
}

int main(void) {
    pthread_t t;
    sem_init(&done, 0, 0);
    pthread_create(&t, 0, work, 0);
    sem_wait(&done);
    sem_destroy(&done);
    pthread_join(t, 0);
    return 0;
}
