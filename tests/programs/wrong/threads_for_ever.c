// raddle: --threads 4 --engine rf
// engines: naive icb bpor
// Readers and writers of which any number may come. A writer waits for readers to leave, but not for other writers.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int readers, writers;

static void *read_it(void *arg) {
    pthread_mutex_lock(&mutex);
    while (writers > 0)
        pthread_cond_wait(&changed, &mutex);
    readers++;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    readers--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void *write_it(void *arg) {
    pthread_mutex_lock(&mutex);
    while (readers > 0)
        pthread_cond_wait(&changed, &mutex);
    writers++;
    assert(writers == 1);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    writers--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    while (1) {
        pthread_t reader, writer;
        pthread_create(&writer, 0, write_it, 0);
        pthread_create(&reader, 0, read_it, 0);
    }
}
