// A block that makes a mutex recursive, locks it twice, and unlocks it once too often if it comes to that.
// raddle: --check memory
#define _GNU_SOURCE
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

pthread_mutex_t mutex;

void __VERIFIER_atomic_use(void) {
    mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (__VERIFIER_nondet_bool()) {
        pthread_mutex_unlock(&mutex);
    }
}

void *use(void *arg) {
    __VERIFIER_atomic_use();
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, use, 0);
    return 0;
}
