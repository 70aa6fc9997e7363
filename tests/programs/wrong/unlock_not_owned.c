// A thread unlocks the mutex that another one holds.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *unlock(void *arg) {
    (void)arg;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, unlock, 0);
    pthread_join(t, 0);
    return 0;
}
