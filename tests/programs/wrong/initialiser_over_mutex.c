// raddle: --check deadlock
// A static initialiser that makes a mutex recursive is assigned while others use it: the thread that comes first waits for itself.
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *twice(void *arg) {
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    pthread_t t;
    pthread_create(&t, 0, twice, 0);
    m = recursive;
    pthread_join(t, 0);
    return 0;
}
