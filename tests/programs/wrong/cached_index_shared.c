// Both threads keep their copy in the same variable: storing there is an effect, and a data race.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int cache;

static void *other(void *arg) {
    cache = 0;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    while (cache == 0)
        cache = atomic_load_explicit(&ready, memory_order_relaxed);
    pthread_join(t, 0);
}
