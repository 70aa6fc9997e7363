// engines: dpor, rf, rvf, mcr
// A thread that wakes up spuriously, and waits again, has the mutex meanwhile: who tries to lock it sees that.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waits, ready, busy;

static void *wait(void *arg) {
    pthread_mutex_lock(&m);
    waits = 1;
    while (!ready)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, wait, 0);
    pthread_mutex_lock(&m);
    int is_waiting = waits;
    pthread_mutex_unlock(&m);
    // From here on, only a signal could wake it, and there was none.
    if (is_waiting) {
        if (pthread_mutex_trylock(&m) != 0)
            busy = 1;
        else
            pthread_mutex_unlock(&m);
    }
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    assert(!busy);
    return 0;
}
