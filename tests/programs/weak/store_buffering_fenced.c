// raddle: --engine naive --memory tso
// engines: naive
// A seq_cst fence makes each store visible before the other thread is looked for.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2];
static int inside[2];

static void *enter(void *arg) {
    int me = arg != 0;
    atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&wants[1 - me], memory_order_relaxed))
        inside[me] = 1;
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, enter, 0);
    pthread_create(&second, 0, enter, &second);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(!(inside[0] && inside[1]));
}
