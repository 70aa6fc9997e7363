// raddle: --engine states --check assert,memory
// One of two threads takes the lock. The other one sees the middle of its section.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *writer(void *arg) {
    pthread_mutex_lock(&mutex);
    x = 1;
    x = 2;
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void *reader(void *arg) {
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    assert(x != 1);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
