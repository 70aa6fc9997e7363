// A thread that only looks, with a mutex in hand, is seen by one that tries for the mutex.
// raddle: --memory sc
// engines: dpor, rf
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done, taken;

static void *other(void *arg) {
    if (pthread_mutex_trylock(&mutex)) {
        taken = 1;
    } else {
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    for (;;) {
        pthread_mutex_lock(&mutex);
        int seen = done;
        pthread_mutex_unlock(&mutex);
        if (seen) {
            break;
        }
    }
    pthread_join(thread, NULL);
    assert(!taken);
    return 0;
}
