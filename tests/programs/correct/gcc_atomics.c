// The older atomics of GCC, and fences.
#include <assert.h>
#include <pthread.h>

static int counter, flag;

static void *worker(void *arg) {
    (void)arg;
    __sync_fetch_and_add(&counter, 1);
    __sync_synchronize();
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    return 0;
}

int main(void) {
    pthread_t t;
    int expected = 0;
    pthread_create(&t, 0, worker, 0);
    __atomic_fetch_add(&counter, 2, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(&flag, &expected, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    assert(expected == 0 || expected == 1);
    pthread_join(t, 0);
    assert(__sync_val_compare_and_swap(&counter, 3, 4) == 3);
    return 0;
}
