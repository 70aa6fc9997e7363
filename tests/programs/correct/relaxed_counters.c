// Threads count by relaxed fetch-and-adds, and who has joined them looks: in whatever order they counted.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 3

atomic_int hits, misses;

void *work(void *arg) {
    atomic_fetch_add_explicit(&hits, 2, memory_order_relaxed);
    atomic_fetch_sub_explicit(&misses, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], 0, work, 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], 0);
    }
    assert(atomic_load_explicit(&hits, memory_order_relaxed) == 2 * THREADS);
    assert(atomic_load_explicit(&misses, memory_order_relaxed) == -THREADS);
    return 0;
}
