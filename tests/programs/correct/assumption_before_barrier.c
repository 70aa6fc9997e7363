// Who waits for a thread whose assumption failed, as it does in some executions, might have been helped by it: that is no deadlock.
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);

static pthread_barrier_t b;

static void *help(void *arg) {
    __VERIFIER_assume(__VERIFIER_nondet_bool());
    pthread_barrier_wait(&b);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, help, 0);
    pthread_barrier_wait(&b);
    return 0;
}
