// A block that makes a mutex recursive and locks it twice: whether it does is decided by what it reads first.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t mutex;
atomic_int started, entered;

void __VERIFIER_atomic_enter(void) {
    if (started == 0) {
        mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
        entered = 1;
        pthread_mutex_unlock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

void *enter(void *arg) {
    __VERIFIER_atomic_enter();
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, enter, 0);
    started = 1;
    pthread_join(thread, 0);
    assert(!entered);
    return 0;
}
