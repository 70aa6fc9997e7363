// What an atomic block accesses depends on what it reads: it writes to `x` only behind the write to `y`.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x, y;

static void *pass_on(void *arg) {
    __VERIFIER_atomic_begin();
    if (y)
        x = 3;
    __VERIFIER_atomic_end();
    return arg;
}

static void *begin(void *arg) {
    y = 1;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, pass_on, 0);
    pthread_create(&t, 0, begin, 0);
    assert(x != 3);
    return 0;
}
