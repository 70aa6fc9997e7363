// engines: dpor, rf, rvf, mcr
// Objects are destroyed when nobody uses them any more, and made again.
#include <pthread.h>
#include <semaphore.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t done;
static int number;

static void *work(void *arg) {
    pthread_rwlock_wrlock(&lock);
    number++;
    pthread_rwlock_unlock(&lock);
    pthread_barrier_wait(&barrier);
    sem_post(&done);
    return arg;
}

int main(void) {
    pthread_t t;
    for (int round = 0; round < 2; round++) {
        sem_init(&done, 0, 0);
        pthread_rwlock_init(&lock, 0);
        pthread_barrier_init(&barrier, 0, 2);
        pthread_create(&t, 0, work, 0);
        pthread_barrier_wait(&barrier);
        pthread_rwlock_rdlock(&lock);
        int seen = number;
        pthread_rwlock_unlock(&lock);
        sem_wait(&done);
        pthread_join(t, 0);
        pthread_rwlock_destroy(&lock);
        pthread_barrier_destroy(&barrier);
        sem_destroy(&done);
        if (seen != round + 1)
            return *(volatile int *)0;
    }
    return 0;
}
