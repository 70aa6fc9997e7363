// Vyukov's bounded queue for many producers and consumers: a number in each cell says whose turn it is.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { CELLS = 2 };

struct cell {
    atomic_uint sequence;
    int value;
};

static struct cell cells[CELLS] = {{0, 0}, {1, 0}};
static atomic_uint enqueued, dequeued;

static bool enqueue(int value) {
    unsigned at = atomic_load_explicit(&enqueued, memory_order_relaxed);
    for (;;) {
        struct cell *cell = &cells[at % CELLS];
        unsigned sequence = atomic_load_explicit(&cell->sequence, memory_order_acquire);
        int ahead = (int)(sequence - at);
        if (ahead < 0)
            return false;
        if (ahead > 0) {
            at = atomic_load_explicit(&enqueued, memory_order_relaxed);
        } else if (atomic_compare_exchange_strong_explicit(&enqueued, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
            cell->value = value;
            atomic_store_explicit(&cell->sequence, at + 1, memory_order_release); // weaken: relaxed
            return true;
        }
    }
}

static bool dequeue(int *value) {
    unsigned at = atomic_load_explicit(&dequeued, memory_order_relaxed);
    for (;;) {
        struct cell *cell = &cells[at % CELLS];
        unsigned sequence = atomic_load_explicit(&cell->sequence, memory_order_acquire); // weaken: relaxed
        int ahead = (int)(sequence - (at + 1));
        if (ahead < 0)
            return false;
        if (ahead > 0) {
            at = atomic_load_explicit(&dequeued, memory_order_relaxed);
        } else if (atomic_compare_exchange_strong_explicit(&dequeued, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
            *value = cell->value;
            atomic_store_explicit(&cell->sequence, at + CELLS, memory_order_release);
            return true;
        }
    }
}

static void *producer(void *arg) {
    assert(enqueue(1));
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, producer, 0);
    assert(enqueue(2));
    int first = 0, second = 0;
    bool any = dequeue(&first);
    pthread_join(thread, 0);
    assert(dequeue(&second));
    if (any)
        assert(first + second == 3);
}
