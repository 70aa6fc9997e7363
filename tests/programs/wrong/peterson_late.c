// Peterson's algorithm with the two writes exchanged: both threads may enter.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_int wants[2], turn, inside;

static void enter(int me) {
    atomic_store(&turn, 1 - me);
    atomic_store(&wants[me], 1);
    __VERIFIER_assume(!(atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me));
}

static void *other(void *arg) {
    (void)arg;
    enter(1);
    assert(atomic_fetch_add(&inside, 1) == 0);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    enter(0);
    assert(atomic_fetch_add(&inside, 1) == 0);
    pthread_join(t, 0);
    return 0;
}
