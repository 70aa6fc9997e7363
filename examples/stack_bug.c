// A lock-free stack that frees a node as soon as it is popped. Another thread may still look at it; Raddle shows when:
//   raddle check examples/stack_bug.c
// examples/stack.c has the fix.
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

static int pop(void) {
    struct node *node = atomic_load(&top);
    while (node && !atomic_compare_exchange_strong(&top, &node, node->next)) {
    }
    if (!node)
        return 0;
    int value = node->value;
    free(node);
    return value;
}

static void *popper(void *arg) {
    *(int *)arg = pop();
    return 0;
}

int main(void) {
    pthread_t t;
    int theirs;
    push(1);
    push(2);
    pthread_create(&t, 0, popper, &theirs);
    int ours = pop();
    pthread_join(t, 0);
    assert(ours + theirs == 3);
    return 0;
}
