// raddle: --unroll 2
// Whatever a block does that never ends, others go on while it has not been begun.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x;

static void *block(void *arg) {
    __VERIFIER_atomic_begin();
    x = 7;
    for (;;)
        x = 8;
    __VERIFIER_atomic_end();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, block, 0);
    assert(x != 0);
    return 0;
}
