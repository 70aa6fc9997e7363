// ms-queue: the first of N threads enqueues, the others enqueue and dequeue, on Michael and Scott's lock-free queue.
//
// Awaiting for Godot (FMCAD 2022), table I. With BOUND, loops are cut.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 2
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
static struct node dummy;
static _Atomic(struct node *) head;
static _Atomic(struct node *) tail;

static void enqueue(struct node *node) {
    FOREVER {
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&last->next);
        if (last != atomic_load(&tail)) {
            continue;
        }
        if (next) {
            /* Somebody is half done: help. */
            atomic_compare_exchange_strong(&tail, &last, next);
            continue;
        }
        if (atomic_compare_exchange_strong(&last->next, &next, node)) {
            atomic_compare_exchange_strong(&tail, &last, node);
            break;
        }
    }
}

/* The first value, or 0 if there is none. */
static int dequeue(void) {
    int value = 0;
    FOREVER {
        struct node *first = atomic_load(&head);
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&first->next);
        if (first != atomic_load(&head)) {
            continue;
        }
        if (first != last) {
            value = next->value;
            if (atomic_compare_exchange_strong(&head, &first, next)) {
                break;
            }
            continue;
        }
        if (!next) {
            value = 0;
            break;
        }
        atomic_compare_exchange_strong(&tail, &last, next);
    }
    return value;
}

static void *run(void *arg) {
    long id = (long)arg;
    nodes[id].value = (int)id + 1;
    enqueue(&nodes[id]);
    if (id > 0) {
        int value = dequeue();
        assert(value > 0);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    atomic_init(&head, &dummy);
    atomic_init(&tail, &dummy);
    for (long i = 0; i < N; i++) {
        pthread_create(&thread, 0, run, (void *)i);
    }
    return 0;
}
