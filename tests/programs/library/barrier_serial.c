// Exactly one thread of each round is told that it is the one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_barrier_t barrier;
static atomic_int serial;

static void *work(void *arg) {
    for (int round = 0; round < 2; round++) {
        int result = pthread_barrier_wait(&barrier);
        assert(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        if (result)
            serial++;
    }
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    assert(serial == 2);
    pthread_barrier_destroy(&barrier);
    return 0;
}
