// engines: dpor, rf, rvf, mcr
// A spin lock whose losers try again until they win.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static int counter;

static void *add_one(void *arg) {
    (void)arg;
    while (atomic_exchange_explicit(&taken, 1, memory_order_acquire)) {
    }
    counter++;
    atomic_store_explicit(&taken, 0, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add_one, 0);
    pthread_create(&b, 0, add_one, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
    return 0;
}
