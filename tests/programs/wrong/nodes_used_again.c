// A stack whose nodes are pushed again: a compare-exchange finds the node that it read at the top, but not the one that came after it (ABA).
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct node {
    struct node *_Atomic next;
};

static struct node nodes[2];
static struct node *_Atomic top;
static atomic_int taken[2];

static struct node *pop(void) {
    struct node *first = top;
    while (first) {
        struct node *next = first->next;
        if (atomic_compare_exchange_strong(&top, &first, next))
            return first;
    }
    return 0;
}

static void push(struct node *node) {
    struct node *first = top;
    do
        node->next = first;
    while (!atomic_compare_exchange_strong(&top, &first, node));
}

static void take(struct node *node) {
    if (node)
        assert(atomic_exchange(&taken[node - nodes], 1) == 0);
}

static void *one(void *arg) {
    take(pop());
    return arg;
}

static void *two(void *arg) {
    struct node *first = pop();
    take(pop());
    if (first)
        push(first);
    return arg;
}

int main(void) {
    pthread_t a, b;
    push(&nodes[0]);
    push(&nodes[1]);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    take(pop());
    return 0;
}
