// raddle: --unroll 1
// A bound on loops does not bound functions that call themselves.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Bool __VERIFIER_nondet_bool(void);

static atomic_int deepest;

static void dive(int depth) {
    deepest = depth;
    if (depth < 4 && __VERIFIER_nondet_bool())
        dive(depth + 1);
}

static void *diver(void *arg) {
    dive(0);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, diver, 0);
    assert(deepest < 4);
    return 0;
}
