// Treiber's stack: a push publishes its node by a release, a pop acquires it. Nodes are not used again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) top;
static struct node nodes[2];

static void push(struct node *node, int value) {
    node->value = value;
    node->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &node->next, node, memory_order_release, memory_order_relaxed)) // weaken: relaxed
        ;
}

static struct node *pop(void) {
    struct node *node = atomic_load_explicit(&top, memory_order_acquire); // weaken: relaxed
    while (node && !atomic_compare_exchange_weak_explicit(&top, &node, node->next, memory_order_acquire, memory_order_acquire))
        ;
    return node;
}

static void *pusher(void *arg) {
    push(&nodes[0], 1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, pusher, 0);
    push(&nodes[1], 2);
    struct node *node = pop();
    assert(node->value == (node == &nodes[0] ? 1 : 2));
    pthread_join(thread, 0);
    struct node *other = pop();
    assert(node->value + other->value == 3);
    assert(pop() == NULL);
}
