// Takes it that so many cycles are enough for another thread.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <x86intrin.h>

static atomic_int ready;

static void *work(void *arg) {
    atomic_store(&ready, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    unsigned long long begin = __rdtsc();
    while (__rdtsc() - begin < 1000000)
        ;
    assert(atomic_load(&ready));
    pthread_join(t, 0);
}
