// engines: bmc
// What one thread stores is the size of the other's block, and an input; the violation is in a late round of a loop.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int __VERIFIER_nondet_int(void);
_Bool __VERIFIER_nondet_bool(void);

static atomic_int n = 4;

static void *work(void *arg) {
    (void)arg;
    free(malloc(n));
    int i = 0;
    while (__VERIFIER_nondet_bool())
        i++;
    if (i == 2) {
        n = __VERIFIER_nondet_int();
        assert(0);
    }
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    return 0;
}
