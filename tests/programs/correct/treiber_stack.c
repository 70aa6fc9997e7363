// A lock-free stack: one thread pushes, the other pops once if it can. Nodes are not freed, so nothing dangles.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) top;
static struct node first = {1, NULL}, second = {2, NULL};

static void push(struct node *n) {
    struct node *seen = atomic_load(&top);
    do
        n->next = seen;
    while (!atomic_compare_exchange_weak(&top, &seen, n));
}

static int pop(void) {
    struct node *seen = atomic_load(&top);
    while (seen && !atomic_compare_exchange_weak(&top, &seen, seen->next)) {
    }
    return seen ? seen->value : 0;
}

static void *pusher(void *arg) {
    (void)arg;
    push(&second);
    return 0;
}

int main(void) {
    pthread_t t;
    push(&first);
    pthread_create(&t, 0, pusher, 0);
    int got = pop();
    assert(got == 1 || got == 2);
    pthread_join(t, 0);
    int rest = pop();
    assert(got + rest == 3);
    return 0;
}
