// raddle: -- -std=c2x
// From C++20 on, and in C23, a relaxed store of the thread that released does not continue its release sequence.
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int flag;

static void *publish(void *arg) {
    data = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
    return arg;
}

static void *disturb(void *arg) {
    atomic_store_explicit(&flag, 3, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, publish, 0);
    pthread_create(&u, 0, disturb, 0);
    int seen = 0;
    if (atomic_load_explicit(&flag, memory_order_acquire) == 2)
        seen = data;
    pthread_join(t, 0);
    pthread_join(u, 0);
    return seen > 1;
}
