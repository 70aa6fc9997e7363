// The mutex is destroyed before the threads that use it are started.
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *lock(void *arg) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_destroy(&mutex);
    pthread_create(&thread, 0, lock, 0);
    pthread_join(thread, 0);
    return 0;
}
