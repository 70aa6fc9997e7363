// A ring with one producer and one consumer (Lamport's, with the orderings that everybody gives it). One slot and two items, so that the slot is
// used again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SLOTS = 1, ITEMS = 2 };

static int slots[SLOTS];
static atomic_uint head, tail;

static void push(int value) {
    unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
    while (t - atomic_load_explicit(&head, memory_order_acquire) == SLOTS) // weaken: relaxed
        ;
    slots[t % SLOTS] = value;
    atomic_store_explicit(&tail, t + 1, memory_order_release); // weaken: relaxed
}

static int pop(void) {
    unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
    while (h == atomic_load_explicit(&tail, memory_order_acquire)) // weaken: relaxed
        ;
    int value = slots[h % SLOTS];
    atomic_store_explicit(&head, h + 1, memory_order_release); // weaken: relaxed
    return value;
}

static void *produce(void *arg) {
    for (int i = 1; i <= ITEMS; i++)
        push(i);
    return arg;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, 0, produce, 0);
    for (int i = 1; i <= ITEMS; i++)
        assert(pop() == i);
    pthread_join(producer, 0);
}
