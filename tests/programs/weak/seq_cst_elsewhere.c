// raddle: --engine naive --memory tso
// engines: naive
// Nobody else looks at what the seq_cst operations change, but they empty the store buffers.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y, own, other;
static int seen_x, seen_y;

static void *run(void *arg) {
    (void)arg;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store(&own, 1);
    seen_y = atomic_load_explicit(&y, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_exchange(&other, 1);
    seen_x = atomic_load_explicit(&x, memory_order_relaxed);
    pthread_join(t, 0);
    assert(seen_x || seen_y);
    return 0;
}
