// Publication as with read-copy-update: readers follow a pointer without a lock, and what they may still see is freed after a grace period. The reader's
// flag and the writer's pointer are store buffering: a full fence on each side.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) shared;
static atomic_int reading;

static void *reader(void *arg) {
    atomic_store_explicit(&reading, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); // weaken: acq_rel
    int *seen = atomic_load_explicit(&shared, memory_order_acquire); // weaken: relaxed
    int value = *seen;
    assert(value == 1 || value == 2);
    atomic_store_explicit(&reading, 0, memory_order_release); // weaken: relaxed
    return arg;
}

int main(void) {
    int *old = malloc(sizeof *old), *new = malloc(sizeof *new);
    *old = 1;
    atomic_store_explicit(&shared, old, memory_order_relaxed);
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    *new = 2;
    atomic_store_explicit(&shared, new, memory_order_release); // weaken: relaxed
    atomic_thread_fence(memory_order_seq_cst); // weaken: acq_rel
    while (atomic_load_explicit(&reading, memory_order_acquire)) // weaken: relaxed
        ;
    free(old);
    pthread_join(thread, 0);
    free(new);
}
