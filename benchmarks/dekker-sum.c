// dekker-sum: two threads race to sum up N counters behind a simplified Dekker lock; under SC at most one gets in.
//
// Reads-from equivalence under SC (OOPSLA 2019), example 8.1 and figure 6. Three classes for every N; a tool that checks
// for SC only at the end explores a number that is exponential in N.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int x;
static atomic_int y;
static atomic_int c[N];

static void sum_up(void) {
    int sum = 0;
    for (int i = 0; i < N; i++) {
        sum += atomic_exchange(&c[i], 0);
    }
    (void)sum;
}

static void *first(void *unused) {
    atomic_store(&x, 1);
    if (atomic_load(&y) == 1) {
        return unused;
    }
    sum_up();
    return unused;
}

static void *second(void *unused) {
    atomic_store(&y, 1);
    if (atomic_load(&x) == 1) {
        return unused;
    }
    sum_up();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, first, 0);
    pthread_create(&thread, 0, second, 0);
    return 0;
}
