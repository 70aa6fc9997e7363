// Mutexes that are tried for until they are free, in opposite order: nobody ever lets go.
// engines: dpor, rf, rvf, mcr
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void take(pthread_mutex_t *mutex) {
    while (pthread_mutex_trylock(mutex) != 0) {
        sched_yield();
    }
}

static void *forwards(void *arg) {
    take(&a);
    take(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, forwards, 0);
    take(&b);
    take(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_join(t, 0);
    return 0;
}
