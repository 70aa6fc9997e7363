// The lock is destroyed while the other thread may still read.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *look(void *arg) {
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, look, 0);
    pthread_rwlock_destroy(&lock);
    pthread_join(t, 0);
    return 0;
}
