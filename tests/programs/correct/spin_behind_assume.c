// Whoever waits in a loop for a thread whose assumption failed is blocked with it, and that is no deadlock.
// engines: dpor, rf, rvf, mcr
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_int turn, go;

static void *set(void *arg) {
    __VERIFIER_assume(atomic_load(&turn) == 1);
    atomic_store(&go, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    atomic_store(&turn, 1);
    while (!atomic_load(&go)) {
    }
    pthread_join(t, 0);
    return 0;
}
