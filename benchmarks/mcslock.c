// mcslock: N threads pass through a queue lock of Mellor-Crummey and Scott once each.
//
// Awaiting for Godot (FMCAD 2022), table I. Both waits (for the lock, for a successor) are pure loops.
// With ASSUME, simple waits are assumptions; with BOUND, other loops are cut.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 3
#endif
#ifdef BOUND
#define FOREVER for (int k_ = 0;; __VERIFIER_assume(++k_ < BOUND))
#else
#define FOREVER for (;;)
#endif
#ifdef ASSUME
#define AWAIT(condition) __VERIFIER_assume(condition)
#else
#define AWAIT(condition) while (!(condition)) {}
#endif

struct node {
    _Atomic(struct node *) next;
    atomic_bool locked;
};

static struct node nodes[N];
static _Atomic(struct node *) tail;
static int shared;

static void lock(struct node *me) {
    atomic_store(&me->next, (struct node *)0);
    struct node *before = atomic_exchange(&tail, me);
    if (before) {
        atomic_store(&me->locked, true);
        atomic_store(&before->next, me);
        AWAIT(!atomic_load(&me->locked));
    }
}

static void unlock(struct node *me) {
    struct node *after = atomic_load(&me->next);
    if (!after) {
        struct node *expected = me;
        if (atomic_compare_exchange_strong(&tail, &expected, (struct node *)0)) {
            return;
        }
        FOREVER {
            after = atomic_load(&me->next);
            if (after) {
                break;
            }
        }
    }
    atomic_store(&after->locked, false);
}

static void *pass(void *arg) {
    int id = (int)(long)arg;
    lock(&nodes[id]);
    shared = id;
    assert(shared == id);
    unlock(&nodes[id]);
    return 0;
}

int main(void) {
    pthread_t thread;
    for (long i = 0; i < N; i++) {
        pthread_create(&thread, 0, pass, (void *)i);
    }
    return 0;
}
