// bmc: refused
// engines: dpor, naive, icb, bpor
// raddle: --reuse-addresses
// ABA: the popper has read `next` when the others take both nodes, free them, and push a new one that lies where the first one did.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
};
static _Atomic(struct node *) top;
static atomic_int has_looked;

static void push(void) {
    struct node *node = malloc(sizeof *node);
    node->next = atomic_load(&top);
    atomic_store(&top, node);
}

static void *popper(void *arg) {
    struct node *old = atomic_load(&top);
    struct node *next = old->next;
    atomic_store(&has_looked, 1);
    atomic_compare_exchange_strong(&top, &old, next);
    return NULL;
}

static void *other(void *arg) {
    if (!atomic_load(&has_looked))
        return NULL;
    struct node *first = atomic_load(&top);
    if (!first || !first->next || !atomic_compare_exchange_strong(&top, &first, first->next))
        return NULL;
    struct node *second = atomic_exchange(&top, NULL);
    free(first);
    free(second);
    push();
    return NULL;
}

int main(void) {
    push();
    push();
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, popper, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    struct node *left = atomic_load(&top);
    assert(!left || !left->next);
}
