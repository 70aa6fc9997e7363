// A lock that is looked at before it is tried.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int locked;
static int counter;

static void *work(void *arg) {
    for (;;) {
        while (atomic_load_explicit(&locked, memory_order_relaxed))
            ;
        if (!atomic_exchange_explicit(&locked, 1, memory_order_acquire)) // weaken: relaxed
            break;
    }
    counter++;
    atomic_store_explicit(&locked, 0, memory_order_release); // weaken: relaxed
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    assert(counter == 2);
}
