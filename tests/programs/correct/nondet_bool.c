// Both values of a nondeterministic boolean are tried, and assumptions cut executions without blame.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);

static atomic_int x;

static void *worker(void *arg) {
    (void)arg;
    if (__VERIFIER_nondet_bool())
        atomic_store(&x, 1);
    else
        atomic_store(&x, 2);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    __VERIFIER_assume(atomic_load(&x) != 2);
    assert(atomic_load(&x) == 1);
    return 0;
}
