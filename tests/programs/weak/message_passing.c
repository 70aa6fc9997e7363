// raddle: --engine naive --memory pso
// engines: naive
// The flag may become visible before the data: stores to different locations are not kept in order.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data, ready;

static void *produce(void *arg) {
    atomic_store_explicit(&data, 42, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, 0, produce, 0);
    if (atomic_load_explicit(&ready, memory_order_acquire))
        assert(atomic_load_explicit(&data, memory_order_relaxed) == 42);
    pthread_join(producer, 0);
}
