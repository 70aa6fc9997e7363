// raddle: --engine rf
// The mutex is made when the other thread may hold it already.
#include <pthread.h>

pthread_mutex_t mutex;
int value;

void *increment(void *arg) {
    pthread_mutex_lock(&mutex);
    value++;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, increment, 0);
    pthread_mutex_init(&mutex, 0);
    increment(0);
    pthread_join(thread, 0);
    return 0;
}
