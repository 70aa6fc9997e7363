// The queue of Michael and Scott. Linking a node publishes it; nodes are not used again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct node {
    int value;
    _Atomic(struct node *) next;
};

static struct node nodes[3];
static _Atomic(struct node *) head = &nodes[0], tail = &nodes[0];

static void enqueue(struct node *node, int value) {
    node->value = value;
    for (;;) {
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
        if (next) {
            atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_release, memory_order_relaxed);
            continue;
        }
        if (atomic_compare_exchange_strong_explicit(&last->next, &next, node, memory_order_release, memory_order_relaxed)) { // weaken: relaxed
            atomic_compare_exchange_strong_explicit(&tail, &last, node, memory_order_release, memory_order_relaxed);
            return;
        }
    }
}

static bool dequeue(int *value) {
    for (;;) {
        struct node *first = atomic_load_explicit(&head, memory_order_acquire);
        struct node *next = atomic_load_explicit(&first->next, memory_order_acquire); // weaken: relaxed
        if (!next)
            return false;
        *value = next->value;
        if (atomic_compare_exchange_strong_explicit(&head, &first, next, memory_order_release, memory_order_relaxed))
            return true;
    }
}

static void *enqueuer(void *arg) {
    enqueue(&nodes[1], 1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, enqueuer, 0);
    int first = 0, second = 0;
    if (dequeue(&first))
        assert(first == 1);
    enqueue(&nodes[2], 2);
    pthread_join(thread, 0);
    assert(dequeue(&second));
    if (!first)
        assert(dequeue(&first));
    assert(first + second == 3);
}
