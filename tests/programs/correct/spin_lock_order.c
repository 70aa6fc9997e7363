// Spin locks, trylocks and a hand-over by flags, all in order: nobody waits for good, however early somebody looks.
// engines: dpor, rf, rvf, mcr
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag a = ATOMIC_FLAG_INIT, b = ATOMIC_FLAG_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ready, seen;
static int balance;

static void lock(atomic_flag *flag) {
    while (atomic_flag_test_and_set(flag)) {
    }
}

static void *change(void *arg) {
    lock(&a);
    lock(&b);
    while (pthread_mutex_trylock(&mutex) != 0) {
    }
    balance++;
    pthread_mutex_unlock(&mutex);
    atomic_flag_clear(&b);
    atomic_flag_clear(&a);
    atomic_store(&ready, 1);
    while (!atomic_load(&seen)) {
    }
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, change, 0);
    lock(&a);
    lock(&b);
    while (pthread_mutex_trylock(&mutex) != 0) {
    }
    balance++;
    pthread_mutex_unlock(&mutex);
    atomic_flag_clear(&b);
    atomic_flag_clear(&a);
    while (!atomic_load(&ready) || !atomic_load(&ready)) {
    }
    atomic_store(&seen, 1);
    pthread_join(t, 0);
    assert(balance == 2);
    return 0;
}
