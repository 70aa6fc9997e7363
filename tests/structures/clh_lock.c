// The queue lock of Craig, Landin and Hagersten: each thread waits at the node of the one before it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct node {
    atomic_int locked;
};

static struct node nodes[3];
static _Atomic(struct node *) tail = &nodes[2];
static int counter;

static void *work(void *arg) {
    struct node *own = arg;
    atomic_store_explicit(&own->locked, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, own, memory_order_acq_rel); // weaken: relaxed
    while (atomic_load_explicit(&before->locked, memory_order_acquire)) // weaken: relaxed
        ;
    counter++;
    atomic_store_explicit(&own->locked, 0, memory_order_release); // weaken: relaxed
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, &nodes[0]);
    work(&nodes[1]);
    pthread_join(thread, 0);
    assert(counter == 2);
}
