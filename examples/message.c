// Message passing. The flag is stored too weakly: who sees it set may still see the old message.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int message, flag;

static void *send(void *arg) {
    atomic_store_explicit(&message, 42, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t sender;
    pthread_create(&sender, 0, send, 0);
    if (atomic_load_explicit(&flag, memory_order_acquire))
        assert(atomic_load_explicit(&message, memory_order_relaxed) == 42);
    pthread_join(sender, 0);
}
