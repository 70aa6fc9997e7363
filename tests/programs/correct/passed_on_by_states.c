// raddle: --engine states --check assert,memory
// engines: states
// A count of readers says who may access the data, which no mutex protects: it is passed on from thread to thread, and accesses need not be interleaved.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int readers, writers;
static int left, right;

static void *reader(void *arg) {
    pthread_mutex_lock(&mutex);
    while (writers > 0)
        pthread_cond_wait(&changed, &mutex);
    readers++;
    pthread_mutex_unlock(&mutex);
    assert(left == right);
    pthread_mutex_lock(&mutex);
    readers--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void *writer(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex);
        while (readers > 0 || writers > 0)
            pthread_cond_wait(&changed, &mutex);
        writers++;
        pthread_mutex_unlock(&mutex);
        left++;
        right++;
        pthread_mutex_lock(&mutex);
        writers--;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

int main(void) {
    pthread_t first, second, third;
    pthread_create(&first, 0, reader, 0);
    pthread_create(&second, 0, reader, 0);
    pthread_create(&third, 0, writer, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    pthread_join(third, 0);
    assert(left == 2 && right == 2);
    return 0;
}
