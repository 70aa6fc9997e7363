// Rounds that a stale read does not need are not shown, nor is the thread that only counts.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int data, flag, count;

static void *send(void *arg) {
    for (int round = 1; round <= 3; round++) {
        atomic_store_explicit(&data, round, memory_order_relaxed);
        atomic_store_explicit(&flag, round, memory_order_relaxed);
    }
    return arg;
}

static void *bystander(void *arg) {
    for (int round = 0; round < 2; round++) {
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    }
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, bystander, 0);
    pthread_create(&threads[1], 0, send, 0);
    for (int round = 0; round < 2; round++) {
        int sent = atomic_load_explicit(&flag, memory_order_acquire);
        int found = atomic_load_explicit(&data, memory_order_relaxed);
        assert(found >= sent);
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    }
}
