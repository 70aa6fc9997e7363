// A mutex that `main` holds when it starts a thread keeps that waiting.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
int ready;

void *check(void *arg) {
    pthread_mutex_lock(&mutex);
    assert(ready);
    pthread_mutex_unlock(&mutex);
    if (pthread_mutex_trylock(&recursive) == 0) {
        pthread_mutex_unlock(&recursive);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, 0, check, 0);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_join(thread, 0);
    return 0;
}
