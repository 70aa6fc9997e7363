// bmc: refused
// A thread that waits for a condition is cancelled: it has the mutex again when its handler runs.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, cleaned;

static void clean(void *arg) {
    cleaned = 1;
    pthread_mutex_unlock(arg);
}

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, &lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    assert(pthread_cancel(thread) == 0);
    void *result;
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED && cleaned);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}
