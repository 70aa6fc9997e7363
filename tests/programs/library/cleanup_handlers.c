// bmc: refused
// Handlers run where a block is left, and when the thread leaves in the middle of it: last one first.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order;

static void note(void *arg) {
    order = 10 * order + (int)(long)arg;
}

static void unlock(void *arg) {
    pthread_mutex_unlock(arg);
}

static void deep(int leaves) {
    pthread_cleanup_push(note, (void *)2);
    if (leaves)
        pthread_exit((void *)7);
    pthread_cleanup_pop(0);
}

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    pthread_cleanup_push(note, (void *)1);
    deep(arg != NULL);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, worker, &lock);
    void *results[2];
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &results[i]);
    assert(results[0] == NULL && results[1] == (void *)7);
    assert(order == 121 || order == 211);
}
