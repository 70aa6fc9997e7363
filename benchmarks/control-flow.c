// control-flow: which variables are written depends on what was read before.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 3. N readers of x, N writers of y, and two threads that decide.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int x;
static atomic_int y;
static atomic_int z;

static void *p(void *unused) {
    atomic_load(&x);
    return unused;
}

static void *q(void *unused) {
    atomic_store(&y, 1);
    return unused;
}

static void *r(void *unused) {
    if (atomic_load(&y) == 0) {
        atomic_store(&z, 1);
    }
    return unused;
}

static void *s(void *unused) {
    if (atomic_load(&z) == 1 && atomic_load(&y) == 0) {
        atomic_store(&x, 1);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < N; i++) {
        pthread_create(&thread, 0, p, 0);
        pthread_create(&thread, 0, q, 0);
    }
    pthread_create(&thread, 0, r, 0);
    pthread_create(&thread, 0, s, 0);
    return 0;
}
