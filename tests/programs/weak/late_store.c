// raddle: --engine naive --memory pso --check memory
// engines: naive
// The flag overtakes the store into the block. The block is freed, then the store arrives.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int done;

static void *use(void *arg) {
    *(int *)arg = 1;
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    int *block = malloc(sizeof *block);
    pthread_t user;
    pthread_create(&user, 0, use, block);
    if (atomic_load_explicit(&done, memory_order_acquire))
        free(block);
    pthread_join(user, 0);
}
