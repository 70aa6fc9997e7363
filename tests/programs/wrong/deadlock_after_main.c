// A thread waits for good, and `main` does not wait for it.
#include <pthread.h>
#include <semaphore.h>

static sem_t never;

static void *work(void *arg) {
    sem_wait(&never);
    return arg;
}

int main(void) {
    pthread_t t;
    sem_init(&never, 0, 0);
    pthread_create(&t, 0, work, 0);
    return 0;
}
