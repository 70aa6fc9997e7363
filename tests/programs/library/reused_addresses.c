// bmc: refused
// engines: dpor, naive, icb, bpor
// raddle: --reuse-addresses
// A stack whose nodes come from malloc. Nobody frees a node while another thread may still compare with its address.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};
static _Atomic(struct node *) top;

static void push(struct node *node) {
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_strong(&top, &node->next, node)) {
    }
}

static struct node *pop(void) {
    struct node *old = atomic_load(&top);
    while (old && !atomic_compare_exchange_strong(&top, &old, old->next)) {
    }
    return old;
}

static struct node *make(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    return node;
}

static void *popper(void *arg) {
    return pop();
}

int main(void) {
    push(make(1));
    push(make(2));
    pthread_t thread;
    pthread_create(&thread, NULL, popper, NULL);
    struct node *mine = pop();
    void *theirs;
    pthread_join(thread, &theirs);
    assert(mine && theirs && mine != theirs);
    free(mine);
    free(theirs);
    struct node *again = calloc(1, sizeof *again);
    assert(!again->next && again->value == 0);
    free(again);
}
