// engines: dpor, rf, rvf, mcr
// Nodes of the heap, filled in again before each attempt.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

_Atomic(struct node *) top;

void *push(void *value) {
    struct node *node = malloc(sizeof *node);
    node->value = *(int *)value;
    struct node *seen = atomic_load(&top);
    do {
        node->next = seen;
    } while (!atomic_compare_exchange_weak(&top, &seen, node));
    return 0;
}

int main(void) {
    pthread_t thread;
    int one = 1, two = 2;
    pthread_create(&thread, 0, push, &one);
    push(&two);
    pthread_join(thread, 0);
    struct node *first = top;
    assert(first->value + first->next->value == 3 && !first->next->next);
}
