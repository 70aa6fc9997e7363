// engines: naive, dpor, rf, rvf, mcr
// A semaphore is freed while a thread waits for it, or has not begun to.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static void *work(void *arg) {
    sem_wait(arg);
    return 0;
}

int main(void) {
    sem_t *semaphore = malloc(sizeof *semaphore);
    sem_init(semaphore, 0, 0);
    pthread_t one, two;
    pthread_create(&one, 0, work, semaphore);
    pthread_create(&two, 0, work, semaphore);
    sem_post(semaphore);
    pthread_join(one, 0);
    free(semaphore);
    pthread_join(two, 0);
    return 0;
}
