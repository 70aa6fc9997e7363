// A recursive mutex may be locked again by its owner; it is free after as many unlocks.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m;
static int counter;

static void add_two(void) {
    pthread_mutex_lock(&m);
    counter++;
    pthread_mutex_lock(&m);
    counter++;
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&m);
}

static void *worker(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    assert(counter == 0 || counter == 2);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_create(&t, 0, worker, 0);
    add_two();
    pthread_join(t, 0);
    pthread_mutex_destroy(&m);
    return 0;
}
