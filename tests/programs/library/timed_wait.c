// raddle: --no-spurious-wakeups
// A waiter with a deadline and one without: the signal may go to either, and the one with a deadline may give up.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, gave_up;

static void *wait_for_a_while(void *arg) {
    struct timespec soon = {1, 0};
    pthread_mutex_lock(&m);
    if (!ready) {
        int result = pthread_cond_timedwait(&c, &m, &soon);
        assert(result == 0 || result == ETIMEDOUT);
        gave_up = result == ETIMEDOUT;
        // A signal that was taken is one that was given.
        assert(result != 0 || ready);
    }
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, wait_for_a_while, 0);
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    assert(gave_up == 0 || gave_up == 1);
    return 0;
}
