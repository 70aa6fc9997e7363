// monabsex1: N threads write 4 to s and read it back.
//
// Reads-value-from equivalence (CAV 2021). All values are equal, so one execution says it all, whatever N is.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int s;

static void *set(void *unused) {
    atomic_store(&s, 4);
    assert(atomic_load(&s) == 4);
    return unused;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < N; i++) {
        pthread_create(&thread, 0, set, 0);
    }
    return 0;
}
