// engines: dpor, rf, rvf, mcr, bmc
// The worker looks at the data while it waits, and tells the owner, with relaxed operations, when it has stopped. The round of the
// loop in which it looked comes to nothing, but the owner writes the data only because of what the worker does later.
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int stop, stopped;

static void *work(void *arg) {
    (void)arg;
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        (void)*(volatile int *)&data;
    atomic_store_explicit(&stopped, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    atomic_store_explicit(&stop, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&stopped, memory_order_relaxed))
        ;
    data = 1;
    pthread_join(t, 0);
    return 0;
}
