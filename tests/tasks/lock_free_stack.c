// Threads push onto a stack and pop from it. Broken: a push does not look whether the top has changed.
#include "task.h"
#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
struct node {
    struct node *next;
    int number;
};
static struct node nodes[THREADS][ROUNDS];
static _Atomic(struct node *) top;
static atomic_int popped[THREADS * ROUNDS];

static void push(struct node *node) {
    struct node *before = atomic_load(&top);
    do
        node->next = before;
    while (!BROKEN && !atomic_compare_exchange_strong(&top, &before, node));
    if (BROKEN)
        atomic_store(&top, node);
}

static struct node *pop(void) {
    struct node *node = atomic_load(&top);
    while (node && !atomic_compare_exchange_strong(&top, &node, node->next)) {
    }
    return node;
}

static void *use(void *arg) {
    long id = (long)arg;
    for (int i = 0; i < ROUNDS; i++) {
        nodes[id][i].number = id * ROUNDS + i;
        push(&nodes[id][i]);
        struct node *node = pop();
        CLAIM(node);
        CLAIM(atomic_fetch_add(&popped[node->number], 1) == 0);
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, use, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
