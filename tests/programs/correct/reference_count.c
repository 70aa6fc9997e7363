// References are given up with release, and whoever was the last acquires what the others did before it frees. Who that is makes a difference, the order
// of the others does not.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 2

struct shared {
    atomic_int references;
    int data;
};

static void give_up(struct shared *it) {
    if (atomic_fetch_sub_explicit(&it->references, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        it->data = 0;
        free(it);
    }
}

static void *work(void *arg) {
    struct shared *it = arg;
    assert(it->data == 7);
    give_up(it);
    return 0;
}

int main(void) {
    struct shared *it = malloc(sizeof *it);
    atomic_init(&it->references, 1);
    it->data = 7;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        atomic_fetch_add_explicit(&it->references, 1, memory_order_relaxed);
        pthread_create(&threads[i], 0, work, it);
    }
    give_up(it);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
