// A ticket lock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint next, serving;
static int counter;

static void *work(void *arg) {
    unsigned ticket = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != ticket) // weaken: relaxed
        ;
    counter++;
    atomic_store_explicit(&serving, ticket + 1, memory_order_release); // weaken: relaxed
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    assert(counter == 2);
}
