// The work-stealing deque of Chase and Lev with the orderings and fences of Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013). Two tasks, one owner who
// takes one, one thief who tries twice.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { TASKS = 2, EMPTY = -1, LOST = -2 };

static atomic_int top, bottom, buffer[TASKS];
static int stolen[TASKS] = {EMPTY, EMPTY};

static void push(int task) {
    int b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&buffer[b % TASKS], task, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int take(void) {
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); // weaken: acq_rel
    int t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        return EMPTY;
    }
    int task = atomic_load_explicit(&buffer[b % TASKS], memory_order_relaxed);
    if (t == b) {
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
            task = EMPTY;
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return task;
}

static int steal(void) {
    int t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst); // weaken: acq_rel
    int b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return EMPTY;
    int task = atomic_load_explicit(&buffer[t % TASKS], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
        return LOST;
    return task;
}

static void *thief(void *arg) {
    stolen[0] = steal();
    stolen[1] = steal();
    return arg;
}

int main(void) {
    push(0);
    push(1);
    pthread_t thread;
    pthread_create(&thread, 0, thief, 0);
    int taken = take();
    pthread_join(thread, 0);
    assert(taken < 0 || (taken != stolen[0] && taken != stolen[1]));
}
