// Nothing depends on which of the two initialisers is there, but threads that use the mutex read it.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *use(void *arg) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
    pthread_t t;
    pthread_create(&t, 0, use, 0);
    m = other;
    pthread_join(t, 0);
    return 0;
}
