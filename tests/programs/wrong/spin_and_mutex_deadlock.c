// One thread spins with the mutex that the other needs to let it go on.
// engines: dpor, rf, rvf, mcr
// bmc: inconclusive
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ready;

static void *prepare(void *arg) {
    pthread_mutex_lock(&mutex);
    atomic_store(&ready, 1);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, prepare, 0);
    pthread_mutex_lock(&mutex);
    while (!atomic_load(&ready)) {
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(t, 0);
    return 0;
}
