// engines: dpor, rf, rvf, mcr
// raddle: --check assert
// Whoever comes first makes the key; its destructor counts without a lock.
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int destroyed;

static void destroy(void *value) {
    destroyed += *(int *)value;
}

static void make(void) {
    pthread_key_create(&key, destroy);
}

static void *work(void *arg) {
    pthread_once(&once, make);
    pthread_setspecific(key, arg);
    assert(pthread_getspecific(key) == arg);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    int by[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &by[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(destroyed == 3);
    return 0;
}
