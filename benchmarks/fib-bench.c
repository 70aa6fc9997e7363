// fib-bench: two threads add to each other's variable N times; neither sum may pass the Fibonacci number 2+2N.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 2; also in the ordering-consistency paper, table 8.
// With BUG the bound is one less than what can be reached.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

// Relaxed accesses are for the memory model of the language.
#ifdef RELAXED
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_seq_cst
#endif

static atomic_int i;
static atomic_int j;

static void *first(void *unused) {
    for (int k = 0; k < N; k++) {
        int mine = atomic_load_explicit(&i, ORDER);
        int other = atomic_load_explicit(&j, ORDER);
        atomic_store_explicit(&i, mine + other, ORDER);
    }
    return unused;
}

static void *second(void *unused) {
    for (int k = 0; k < N; k++) {
        int mine = atomic_load_explicit(&j, ORDER);
        int other = atomic_load_explicit(&i, ORDER);
        atomic_store_explicit(&j, mine + other, ORDER);
    }
    return unused;
}

static int fibonacci(int n) {
    int before = 0;
    int current = 1;
    for (int k = 1; k < n; k++) {
        int sum = before + current;
        before = current;
        current = sum;
    }
    return current;
}

int main(void) {
    pthread_t thread;
    int limit = fibonacci(2 + 2 * N);
#ifdef BUG
    limit--;
#endif
    atomic_init(&i, 1);
    atomic_init(&j, 1);
    pthread_create(&thread, 0, first, 0);
    pthread_create(&thread, 0, second, 0);
    assert(atomic_load_explicit(&i, ORDER) <= limit && atomic_load_explicit(&j, ORDER) <= limit);
    return 0;
}
