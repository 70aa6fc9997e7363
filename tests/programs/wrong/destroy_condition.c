// raddle: --engine rf
// The condition variable is destroyed while the other thread may still wait at it.
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int waits;

void *waiter(void *arg) {
    pthread_mutex_lock(&mutex);
    waits = 1;
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, waiter, 0);
    pthread_mutex_lock(&mutex);
    if (waits) {
        pthread_cond_destroy(&condition);
    }
    pthread_mutex_unlock(&mutex);
    return 0;
}
