// A timed lock may get the mutex or time out: both are explored, and both are handled.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *hold(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    counter++;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    struct timespec soon = {1, 0};
    pthread_create(&t, 0, hold, 0);
    int result = pthread_mutex_timedlock(&m, &soon);
    if (result == 0) {
        counter++;
        pthread_mutex_unlock(&m);
    } else {
        assert(result == ETIMEDOUT);
    }
    pthread_join(t, 0);
    assert(counter == 1 || counter == 2);
    return 0;
}
