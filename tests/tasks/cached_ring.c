// A ring with one producer and one consumer, each with a copy of the other one's index. Broken: a place is given back before it is read.
#include "task.h"
#ifndef ROUNDS
#define ROUNDS 5
#endif
enum { ROOM = 2 };
static atomic_uint head, tail;
static unsigned cached_head, cached_tail;
static atomic_int items[ROOM];

static void *produce(void *arg) {
    for (unsigned at = 0; at < ROUNDS; at++) {
        while (at - cached_head == ROOM)
            cached_head = atomic_load_explicit(&head, memory_order_acquire);
        atomic_store_explicit(&items[at % ROOM], at, memory_order_relaxed);
        atomic_store_explicit(&tail, at + 1, memory_order_release);
    }
    return arg;
}

static void *consume(void *arg) {
    for (unsigned at = 0; at < ROUNDS; at++) {
        while (at == cached_tail)
            cached_tail = atomic_load_explicit(&tail, memory_order_acquire);
        if (BROKEN)
            atomic_store_explicit(&head, at + 1, memory_order_release);
        unsigned item = atomic_load_explicit(&items[at % ROOM], memory_order_relaxed);
        CLAIM(item == at);
        if (!BROKEN)
            atomic_store_explicit(&head, at + 1, memory_order_release);
    }
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, produce, 0);
    pthread_create(&other, 0, consume, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
