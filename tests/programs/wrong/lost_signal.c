// The waiter does not check whether the signal was already given.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;

static void *signal_once(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    pthread_cond_signal(&go);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, signal_once, 0);
    pthread_mutex_lock(&m);
    pthread_cond_wait(&go, &m);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
