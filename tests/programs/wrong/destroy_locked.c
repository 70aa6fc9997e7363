// raddle: --keep-going
// The mutex is destroyed without waiting for the thread that uses it.
#include <pthread.h>

static pthread_mutex_t m;

static void *use(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_mutex_init(&m, 0);
    pthread_create(&t, 0, use, 0);
    pthread_mutex_destroy(&m);
    pthread_join(t, 0);
    return 0;
}
