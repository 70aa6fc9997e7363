// engines: naive, dpor, rf, rvf, mcr
// A read-write lock is freed by its holder while another thread waits for it.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *arg) {
    pthread_rwlock_rdlock(arg);
    pthread_rwlock_unlock(arg);
    return 0;
}

int main(void) {
    pthread_rwlock_t *lock = malloc(sizeof *lock);
    pthread_rwlock_init(lock, 0);
    pthread_rwlock_wrlock(lock);
    pthread_t thread;
    pthread_create(&thread, 0, work, lock);
    free(lock);
    pthread_join(thread, 0);
    return 0;
}
