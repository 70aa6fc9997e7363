// All atomics are seq_cst. That an attempt to lock fails tells that the other thread has the lock; it does not order that thread's store before it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *owner(void *arg) {
    atomic_store(&ready, 1);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, owner, 0);
    if (pthread_mutex_trylock(&lock) == 0)
        pthread_mutex_unlock(&lock);
    else
        assert(atomic_load(&ready) == 1);
    pthread_join(t, 0);
    return 0;
}
