// The mutex is recursive once it is made; whoever locks it twice before that waits for good.
#include <pthread.h>

pthread_mutex_t mutex;
int value;

void *increment(void *arg) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    value++;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_create(&thread, 0, increment, 0);
    pthread_mutex_init(&mutex, &attributes);
    pthread_join(thread, 0);
    return 0;
}
