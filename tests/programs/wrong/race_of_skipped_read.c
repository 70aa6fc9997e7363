// engines: dpor, rf, rvf, mcr, bmc
// A loop that waits for one flag looks at another one too, which is made by a plain store.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int go, ready;

static void *make(void *arg) {
    (void)arg;
    *(volatile int *)&ready = 0;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return 0;
}

static void *wait(void *arg) {
    (void)arg;
    int last = 0;
    while (!atomic_load_explicit(&go, memory_order_relaxed))
        last = atomic_load_explicit(&ready, memory_order_acquire);
    return (void *)(long)last;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, make, 0);
    pthread_create(&t, 0, wait, 0);
    return 0;
}
