// Attributes of threads and mutexes; threads that tell who they are.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int runs;

static void *work(void *arg) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
    assert(pthread_equal(pthread_self(), pthread_self()));
    assert(!pthread_equal(pthread_self(), *(pthread_t *)arg));
    sched_yield();
    usleep(10);
    runs++;
    pthread_exit((void *)7);
}

static void *detached(void *arg) {
    runs++;
    return arg;
}

int main(void) {
    pthread_attr_t attributes;
    int state;
    size_t size;
    assert(pthread_attr_init(&attributes) == 0);
    assert(pthread_attr_setstacksize(&attributes, 1 << 16) == 0);
    assert(pthread_attr_getstacksize(&attributes, &size) == 0 && size == 1 << 16);
    assert(pthread_attr_getdetachstate(&attributes, &state) == 0 && state == PTHREAD_CREATE_JOINABLE);
    pthread_t self = pthread_self(), t, d;
    void *result;
    assert(pthread_create(&t, &attributes, work, &self) == 0);
    assert(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
    assert(pthread_attr_getdetachstate(&attributes, &state) == 0 && state == PTHREAD_CREATE_DETACHED);
    assert(pthread_create(&d, &attributes, detached, 0) == 0);
    pthread_attr_destroy(&attributes);
    assert(pthread_join(t, &result) == 0 && result == (void *)7);
    assert(runs >= 1);

    pthread_mutexattr_t kind;
    int type;
    pthread_mutex_t m;
    pthread_mutexattr_init(&kind);
    assert(pthread_mutexattr_gettype(&kind, &type) == 0 && type == PTHREAD_MUTEX_DEFAULT);
    assert(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE) == 0);
    assert(pthread_mutexattr_gettype(&kind, &type) == 0 && type == PTHREAD_MUTEX_RECURSIVE);
    assert(pthread_mutexattr_settype(&kind, 77) == EINVAL);
    pthread_mutex_init(&m, &kind);
    pthread_mutexattr_destroy(&kind);
    pthread_mutex_lock(&m);
    assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_trylock(&m) == 0);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_destroy(&m);

    static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    pthread_mutex_lock(&recursive);
    assert(pthread_mutex_lock(&recursive) == 0);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    return 0;
}
