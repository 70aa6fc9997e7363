// race-parametric: two threads work on a variable of their own for long, then N times on a shared one.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 4.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif
#define PRIVATE_ROUNDS 42

static atomic_int own[2];
static atomic_int v;

static void *race(void *arg) {
    int t = (int)(long)arg;
    for (int i = 0; i < PRIVATE_ROUNDS; i++) {
        atomic_store(&own[t], i);
        atomic_load(&own[t]);
    }
    for (int i = 0; i < N; i++) {
        atomic_store(&v, t);
        atomic_load(&v);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, race, (void *)0L);
    pthread_create(&thread, 0, race, (void *)1L);
    return 0;
}
