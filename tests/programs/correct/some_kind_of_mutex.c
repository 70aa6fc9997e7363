// Which kind of mutex it is is decided as the program runs: whatever it is, the threads exclude each other.
#include <assert.h>
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

pthread_mutex_t mutex;
int kind, value;

void *increment(void *arg) {
    pthread_mutex_lock(&mutex);
    if (kind == PTHREAD_MUTEX_RECURSIVE) {
        assert(pthread_mutex_lock(&mutex) == 0);
        value++;
        pthread_mutex_unlock(&mutex);
    } else if (kind == PTHREAD_MUTEX_ERRORCHECK) {
        assert(pthread_mutex_lock(&mutex) != 0);
        value++;
    } else {
        value++;
    }
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    kind = PTHREAD_MUTEX_NORMAL;
    if (__VERIFIER_nondet_bool()) {
        kind = __VERIFIER_nondet_bool() ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ERRORCHECK;
    }
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutex_init(&mutex, &attributes);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, increment, 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], 0);
    }
    assert(value == 2);
    return 0;
}
