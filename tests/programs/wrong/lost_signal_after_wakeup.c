// raddle: --check deadlock
// The loop checks again, but the signal comes before what it signals: a thread that wakes up, for whatever reason, waits for good.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waits, ready;

static void *set(void *arg) {
    pthread_mutex_lock(&m);
    int is_waiting = waits;
    pthread_mutex_unlock(&m);
    if (is_waiting)
        pthread_cond_signal(&c);
    pthread_mutex_lock(&m);
    ready = 1;
    if (!is_waiting)
        pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    pthread_mutex_lock(&m);
    waits = 1;
    while (!ready)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
