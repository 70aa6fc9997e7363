// bubblesort: N threads make one pass each over an array of N numbers in descending order, without synchronisation.
//
// Maximal causality reduction (PLDI 2015). The array need not be sorted at the end. With PLAIN its elements are not atomic;
// there are seven races then, as in the paper. With NO_ASSERT the result is not judged.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

#ifdef PLAIN
#define LOAD(variable) (variable)
#define STORE(variable, value) ((variable) = (value))
static int a[N];
#else
#define LOAD(variable) atomic_load(&(variable))
#define STORE(variable, value) atomic_store(&(variable), value)
static atomic_int a[N];
#endif

static void *pass(void *unused) {
    for (int i = 0; i < N - 1; i++) {
        int left = LOAD(a[i]);
        int right = LOAD(a[i + 1]);
        if (left > right) {
            STORE(a[i], right);
            STORE(a[i + 1], left);
        }
    }
    return unused;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) {
        STORE(a[i], N - i);
    }
    for (int i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, pass, 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
#ifndef NO_ASSERT
    for (int i = 0; i < N - 1; i++) {
        assert(LOAD(a[i]) <= LOAD(a[i + 1]));
    }
#endif
    return 0;
}
