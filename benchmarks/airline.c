// airline: N sellers of N-1 tickets check the number sold and increase it in two steps. Tickets are sold twice, but never
// more than there are, because an increase can only get lost.
//
// Ordering-consistency paper, table 8, after maximal causality reduction (PLDI 2015).

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif
#define CAPACITY (N - 1)

static atomic_int stop;
static atomic_int sold;

static void *sell(void *unused) {
    if (!atomic_load(&stop)) {
        int s = atomic_load(&sold);
        if (s >= CAPACITY) {
            atomic_store(&stop, 1);
        } else {
            atomic_store(&sold, s + 1);
        }
    }
    return unused;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, sell, 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    assert(atomic_load(&sold) <= CAPACITY);
    return 0;
}
