// raddle: --memory tso
// engines: naive
// Who waits for a thread that came to something unknown might be helped by it: that is no deadlock.
#include <pthread.h>
#include <semaphore.h>

double unknown(void);

static sem_t s;

static void *help(void *arg) {
    unknown();
    sem_post(&s);
    return arg;
}

int main(void) {
    pthread_t t;
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, help, 0);
    sem_wait(&s);
    return 0;
}
