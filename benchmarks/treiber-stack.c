// treiber-stack: N threads push a node of their own on a lock-free stack; all but the last two then pop one.
//
// Awaiting for Godot (FMCAD 2022), table I. With BOUND, loops are cut.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 3
#endif
#ifdef BOUND
#define FOREVER for (int k_ = 0;; __VERIFIER_assume(++k_ < BOUND))
#else
#define FOREVER for (;;)
#endif

struct node {
    int value;
    _Atomic(struct node *) next;
};

static struct node nodes[N];
static _Atomic(struct node *) top;

static void push(struct node *node) {
    FOREVER {
        struct node *seen = atomic_load(&top);
        atomic_store(&node->next, seen);
        if (atomic_compare_exchange_strong(&top, &seen, node)) {
            break;
        }
    }
}

/* The top node, or null. */
static struct node *pop(void) {
    struct node *seen;
    FOREVER {
        seen = atomic_load(&top);
        if (!seen) {
            break;
        }
        struct node *next = atomic_load(&seen->next);
        if (atomic_compare_exchange_strong(&top, &seen, next)) {
            break;
        }
    }
    return seen;
}

static void *run(void *arg) {
    long id = (long)arg;
    nodes[id].value = (int)id + 1;
    push(&nodes[id]);
    if (id < N - 2) {
        struct node *popped = pop();
        assert(popped && popped->value > 0);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    for (long i = 0; i < N; i++) {
        pthread_create(&thread, 0, run, (void *)i);
    }
    return 0;
}
