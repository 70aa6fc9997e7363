// raddle: --check assert
// Others never see what a block did before a fault, whether it is looked for or not.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x;
static int *nowhere;

static void *block(void *arg) {
    __VERIFIER_atomic_begin();
    x = 1;
    if (__VERIFIER_nondet_bool())
        *nowhere = 1;
    x = 0;
    __VERIFIER_atomic_end();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, block, 0);
    assert(x == 0);
    return 0;
}
