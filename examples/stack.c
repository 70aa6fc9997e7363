// A lock-free stack that frees its nodes when no other thread can look at them any more. Raddle tries every
// interleaving and finds nothing wrong:
//   raddle check examples/stack.c
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) top;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_strong(&top, &node->next, node)) {
    }
}

static struct node *pop(void) {
    struct node *node = atomic_load(&top);
    while (node && !atomic_compare_exchange_strong(&top, &node, node->next)) {
    }
    return node;
}

static void *popper(void *arg) {
    *(struct node **)arg = pop();
    return 0;
}

int main(void) {
    pthread_t t;
    struct node *theirs;
    push(1);
    push(2);
    pthread_create(&t, 0, popper, &theirs);
    struct node *ours = pop();
    pthread_join(t, 0);
    assert(ours->value + theirs->value == 3);
    free(ours);
    free(theirs);
    return 0;
}
