// One item goes through a slot guarded by a mutex and a condition variable. The consumer re-checks in a loop, so it does
// not matter whether the signal comes before or after it waits.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int full, item;

static void *produce(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    item = 42;
    full = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, produce, 0);
    pthread_mutex_lock(&m);
    while (!full)
        pthread_cond_wait(&filled, &m);
    assert(item == 42);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
