// Spin locks and read-write locks, tried and taken.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_spinlock_t spin;
static pthread_rwlock_t rw;
static int counter;

static void *work(void *arg) {
    pthread_spin_lock(&spin);
    counter++;
    pthread_spin_unlock(&spin);
    if (pthread_rwlock_tryrdlock(&rw) == 0) {
        assert(pthread_rwlock_trywrlock(&rw) != 0);
        pthread_rwlock_unlock(&rw);
    }
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_rwlock_init(&rw, 0);
    pthread_create(&t, 0, work, 0);
    if (pthread_spin_trylock(&spin) == 0) {
        counter++;
        pthread_spin_unlock(&spin);
    }
    assert(pthread_rwlock_wrlock(&rw) == 0 && pthread_rwlock_wrlock(&rw) == EDEADLK);
    assert(pthread_rwlock_tryrdlock(&rw) == EBUSY);
    pthread_rwlock_unlock(&rw);
    pthread_join(t, 0);
    assert(pthread_rwlock_rdlock(&rw) == 0 && pthread_rwlock_rdlock(&rw) == 0);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_unlock(&rw);
    assert(counter == 1 || counter == 2);
    pthread_rwlock_destroy(&rw);
    pthread_spin_destroy(&spin);
    return 0;
}
