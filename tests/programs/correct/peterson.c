// Peterson's mutual exclusion with sequentially consistent atomics. Waiting is an assumption: executions in which a
// thread would have to wait longer are covered by those in which it came later.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_int wants[2];
static atomic_int turn;
static int inside;

static void enter(int me) {
    atomic_store(&wants[me], 1);
    atomic_store(&turn, 1 - me);
    __VERIFIER_assume(!(atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me));
}

static void critical(void) {
    inside++;
    assert(inside == 1);
    inside--;
}

static void *other(void *arg) {
    (void)arg;
    enter(1);
    critical();
    atomic_store(&wants[1], 0);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    enter(0);
    critical();
    atomic_store(&wants[0], 0);
    pthread_join(t, 0);
    return 0;
}
