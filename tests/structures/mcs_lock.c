// The queue lock of Mellor-Crummey and Scott: each thread waits at a node of its own.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int waits;
};

static _Atomic(struct node *) tail;
static struct node nodes[2];
static int counter;

static void lock(struct node *own) {
    atomic_store_explicit(&own->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&own->waits, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, own, memory_order_acq_rel); // weaken: relaxed
    if (!before)
        return;
    atomic_store_explicit(&before->next, own, memory_order_release);
    while (atomic_load_explicit(&own->waits, memory_order_acquire)) // weaken: relaxed
        ;
}

static void unlock(struct node *own) {
    struct node *next = atomic_load_explicit(&own->next, memory_order_acquire);
    if (!next) {
        struct node *expected = own;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, memory_order_release, memory_order_relaxed)) // weaken: relaxed
            return;
        while (!(next = atomic_load_explicit(&own->next, memory_order_acquire)))
            ;
    }
    atomic_store_explicit(&next->waits, 0, memory_order_release); // weaken: relaxed
}

static void *work(void *arg) {
    lock(arg);
    counter++;
    unlock(arg);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, &nodes[0]);
    work(&nodes[1]);
    pthread_join(thread, 0);
    assert(counter == 2);
}
