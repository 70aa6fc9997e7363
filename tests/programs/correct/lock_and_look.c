// Loops that take a lock, look, and give it back: with a mutex, with the mutex in hand but for a moment, and with a spin lock that is tried
// when it is seen free. Who looks whether it is taken is explored as well.
// engines: dpor, rf
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int word;
static int ready, started;

static void spin_lock(void) {
    while (atomic_exchange(&word, 1)) {
        while (atomic_load(&word)) {
        }
    }
}

static void *starter(void *arg) {
    spin_lock();
    started = 1;
    atomic_store(&word, 0);
    pthread_mutex_lock(&mutex);
    while (!ready) {
        pthread_mutex_unlock(&mutex);
        pthread_mutex_lock(&mutex);
    }
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, starter, NULL);
    for (;;) {
        spin_lock();
        int seen = started;
        atomic_store(&word, 0);
        if (seen) {
            break;
        }
    }
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    assert(ready && started);
    return 0;
}
