// Locks with a deadline, taken in opposite orders: somebody gives up, nobody waits for good.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static const struct timespec soon = {1, 0};

static void *other(void *arg) {
    pthread_rwlock_wrlock(&rw);
    int result = pthread_mutex_timedlock(&m, &soon);
    assert(result == 0 || result == ETIMEDOUT);
    if (result == 0)
        pthread_mutex_unlock(&m);
    assert(sem_timedwait(&s, &soon) == -1 && errno == ETIMEDOUT);
    pthread_rwlock_unlock(&rw);
    return arg;
}

int main(void) {
    pthread_t t;
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, other, 0);
    pthread_mutex_lock(&m);
    int result = pthread_rwlock_timedrdlock(&rw, &soon);
    assert(result == 0 || result == ETIMEDOUT);
    if (result == 0)
        pthread_rwlock_unlock(&rw);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
