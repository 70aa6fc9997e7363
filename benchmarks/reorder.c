// reorder: N-1 threads set a and then b; one checker expects to see both settings or none. It can see one.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 5; reorder_5 of the reads-value-from paper (CAV 2021).
// With NO_ASSERT the checker reads as before, but does not complain.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef N
#define N 3
#endif

static atomic_int a;
static atomic_int b;

static void *setter(void *unused) {
    atomic_store(&a, 1);
    atomic_store(&b, -1);
    return unused;
}

static void *checker(void *unused) {
    bool consistent = (atomic_load(&a) == 0 && atomic_load(&b) == 0) ||
                      (atomic_load(&a) == 1 && atomic_load(&b) == -1);
#ifdef NO_ASSERT
    (void)consistent;
#else
    assert(consistent);
#endif
    return unused;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N - 1; i++) {
        pthread_create(&threads[i], 0, setter, 0);
    }
    pthread_create(&threads[N - 1], 0, checker, 0);
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
