// A semaphore hands a value over.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t ready;
static int value;

static void *give(void *arg) {
    (void)arg;
    value = 3;
    sem_post(&ready);
    return 0;
}

int main(void) {
    pthread_t t;
    sem_init(&ready, 0, 0);
    pthread_create(&t, 0, give, 0);
    sem_wait(&ready);
    assert(value == 3);
    pthread_join(t, 0);
    sem_destroy(&ready);
    return 0;
}
