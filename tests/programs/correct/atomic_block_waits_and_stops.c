// A block that has to wait in its middle has shown what it did till then; of its rest nobody sees anything if it does not end.
// bmc: refused
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void __VERIFIER_assume(int);
_Bool __VERIFIER_nondet_bool(void);

static atomic_int x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *write_in_parts(void *arg) {
    __VERIFIER_atomic_begin();
    x = 1;
    pthread_mutex_lock(&m);
    x = 2;
    __VERIFIER_assume(__VERIFIER_nondet_bool());
    x = 0;
    pthread_mutex_unlock(&m);
    __VERIFIER_atomic_end();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, write_in_parts, 0);
    pthread_mutex_lock(&m);
    assert(x != 2);
    pthread_mutex_unlock(&m);
    assert(x != 2);
    return 0;
}
