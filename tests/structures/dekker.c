// The entry of Dekker's lock with fences: whoever finds the other's flag set withdraws.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2];
static int counter;

static void work(int own) {
    atomic_store_explicit(&wants[own], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); // weaken: acq_rel
    if (!atomic_load_explicit(&wants[1 - own], memory_order_acquire)) // weaken: relaxed
        counter++;
    atomic_store_explicit(&wants[own], 0, memory_order_release); // weaken: relaxed
}

static void *thread_work(void *arg) {
    work(1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, thread_work, 0);
    work(0);
    pthread_join(thread, 0);
    assert(counter <= 2);
}
