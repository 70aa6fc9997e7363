// raddle: --check assert
// engines: dpor, rf, rvf, mcr
// The destructor of a key that is made beside other threads counts without a lock.
#include <assert.h>
#include <pthread.h>

static pthread_key_t key;
static int destroyed;

static void destroy(void *value) {
    destroyed += *(int *)value;
}

static void *nothing(void *arg) {
    return arg;
}

static void *work(void *arg) {
    pthread_setspecific(key, arg);
    return 0;
}

int main(void) {
    pthread_t other, threads[2];
    int by[2] = {1, 2};
    pthread_create(&other, 0, nothing, 0);
    pthread_key_create(&key, destroy);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &by[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    pthread_join(other, 0);
    assert(destroyed == 3);
    return 0;
}
