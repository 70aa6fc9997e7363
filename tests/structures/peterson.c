// Peterson's lock with fences: behind each of the two stores, since otherwise the second may come before the other thread's although the first does not.
// What is protected is handed over by release and acquire.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2], turn;
static int counter;

static void work(int own) {
    int other = 1 - own;
    atomic_store_explicit(&wants[own], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); // weaken: acq_rel
    atomic_store_explicit(&turn, other, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); // weaken: acq_rel
    while (atomic_load_explicit(&wants[other], memory_order_acquire) && // weaken: relaxed
           atomic_load_explicit(&turn, memory_order_relaxed) == other)
        ;
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
    assert(counter == 2);
}
