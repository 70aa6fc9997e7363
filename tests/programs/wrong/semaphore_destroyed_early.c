// Only one of two ways waits for the thread before its semaphore is destroyed.
#include <pthread.h>
#include <semaphore.h>

_Bool __VERIFIER_nondet_bool(void);

static sem_t go;

static void *work(void *arg) {
    (void)arg;
    sem_wait(&go);
    return 0;
}

int main(void) {
    pthread_t t;
    sem_init(&go, 0, 0);
    pthread_create(&t, 0, work, 0);
    if (__VERIFIER_nondet_bool()) {
        sem_post(&go);
        pthread_join(t, 0);
    }
    sem_destroy(&go);
    return 0;
}
