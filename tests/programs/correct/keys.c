// Thread-specific data: a value set by one thread is not seen by the other.
#include <assert.h>
#include <pthread.h>

static pthread_key_t key;

static void *worker(void *arg) {
    assert(pthread_getspecific(key) == 0);
    pthread_setspecific(key, arg);
    assert(pthread_getspecific(key) == arg);
    return 0;
}

int main(void) {
    pthread_t t;
    int a, b;
    pthread_key_create(&key, 0);
    pthread_setspecific(key, &a);
    pthread_create(&t, 0, worker, &b);
    pthread_join(t, 0);
    assert(pthread_getspecific(key) == &a);
    pthread_key_delete(key);
    return 0;
}
