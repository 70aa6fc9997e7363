// What others see of a block that cannot be run to its end is nothing: that it cannot is the answer.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void mystery(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x;

static void *block(void *arg) {
    __VERIFIER_atomic_begin();
    x = 1;
    mystery();
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
