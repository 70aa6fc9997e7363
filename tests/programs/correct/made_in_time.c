// Objects are made and destroyed while there are other threads, but not while these use them.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct box {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_rwlock_t lock;
    int full;
};

struct box *_Atomic shared;

void *fill(void *arg) {
    struct box *box = shared;
    if (!box) {
        return 0;
    }
    pthread_rwlock_rdlock(&box->lock);
    pthread_rwlock_unlock(&box->lock);
    pthread_mutex_lock(&box->mutex);
    pthread_mutex_lock(&box->mutex);
    box->full = 1;
    pthread_cond_signal(&box->condition);
    pthread_mutex_unlock(&box->mutex);
    pthread_mutex_unlock(&box->mutex);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_create(&thread, 0, fill, 0);
    struct box *box = malloc(sizeof *box);
    box->full = 0;
    pthread_mutex_init(&box->mutex, &attributes);
    pthread_cond_init(&box->condition, 0);
    pthread_rwlock_init(&box->lock, 0);
    shared = box;
    pthread_rwlock_wrlock(&box->lock);
    assert(pthread_rwlock_rdlock(&box->lock) != 0);
    pthread_rwlock_unlock(&box->lock);
    pthread_join(thread, 0);
    pthread_rwlock_destroy(&box->lock);
    pthread_cond_destroy(&box->condition);
    pthread_mutex_destroy(&box->mutex);
    free(box);
    return 0;
}
