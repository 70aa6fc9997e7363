// engines: bmc
// The same with numbers that only a formula can try, and a size that is not known: one of the values that are encoded.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int __VERIFIER_nondet_int(void);

static atomic_int size = 4;

static void *work(void *arg) {
    (void)arg;
    free(malloc(size));
    int rounds = 0;
    while (__VERIFIER_nondet_int()) {
        rounds++;
    }
    if (rounds == 2) {
        size = __VERIFIER_nondet_int();
        assert(rounds < 2);
    }
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    return 0;
}
