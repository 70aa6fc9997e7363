// An atomic block that has to wait in its middle lets others go on meanwhile.
// bmc: refused
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x, seen;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *write_in_two_parts(void *arg) {
    __VERIFIER_atomic_begin();
    x = 1;
    pthread_mutex_lock(&m);
    seen = x;
    pthread_mutex_unlock(&m);
    __VERIFIER_atomic_end();
    assert(seen == 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, write_in_two_parts, 0);
    pthread_mutex_lock(&m);
    if (x == 1)
        x = 2;
    pthread_mutex_unlock(&m);
    return 0;
}
