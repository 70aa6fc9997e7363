// A thread ends the process while another one is in the middle of its critical section, and a function that runs at exit looks without the lock.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int busy;

static void last(void) {
    assert(!busy);
}

static void *work(void *arg) {
    pthread_mutex_lock(&mutex);
    busy = 1;
    busy = 0;
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void *end(void *arg) {
    (void)arg;
    exit(0);
}

int main(void) {
    pthread_t worker, ender;
    atexit(last);
    pthread_create(&worker, 0, work, 0);
    pthread_create(&ender, 0, end, 0);
    pthread_join(worker, 0);
    pthread_join(ender, 0);
    return 0;
}
