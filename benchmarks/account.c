// account: N deposits of 100 and a withdrawal of 10, each a load and a store. The right sum can be reached, which the
// assertion denies.
//
// Ordering-consistency paper, table 8, after maximal causality reduction (PLDI 2015).
// With NO_ASSERT the sum is read, but not judged.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static atomic_int amount;

static void *deposit(void *unused) {
    atomic_store(&amount, atomic_load(&amount) + 100);
    return unused;
}

static void *withdraw(void *unused) {
    atomic_store(&amount, atomic_load(&amount) - 10);
    return unused;
}

int main(void) {
    pthread_t threads[N + 1];
    atomic_init(&amount, 1000);
    for (int i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, deposit, 0);
    }
    pthread_create(&threads[N], 0, withdraw, 0);
    for (int i = 0; i <= N; i++) {
        pthread_join(threads[i], 0);
    }
    int sum = atomic_load(&amount);
#ifdef NO_ASSERT
    (void)sum;
#else
    assert(sum != 1000 + 100 * N - 10);
#endif
    return 0;
}
