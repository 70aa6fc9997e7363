// Nobody sees the middle of an atomic block, however often its loop goes round.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x;

static void *count(void *arg) {
    __VERIFIER_atomic_begin();
    x = 1;
    for (int i = 0; i < 3 && __VERIFIER_nondet_bool(); i++)
        x++;
    x = 0;
    __VERIFIER_atomic_end();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, count, 0);
    assert(x == 0);
    return 0;
}
