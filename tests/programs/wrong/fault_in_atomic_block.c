// A fault in the middle of an atomic block is a fault, and is shown with what the block did before.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x, y;

static void *block(void *arg) {
    __VERIFIER_atomic_begin();
    x = 1;
    y = x + 1;
    assert(y != 2);
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
