// One post for two waits.
#include <pthread.h>
#include <semaphore.h>

static sem_t tokens;

static void *take(void *arg) {
    (void)arg;
    sem_wait(&tokens);
    return 0;
}

int main(void) {
    pthread_t t;
    sem_init(&tokens, 0, 1);
    pthread_create(&t, 0, take, 0);
    sem_wait(&tokens);
    pthread_join(t, 0);
    return 0;
}
