// Who waits for a thread whose assumption failed, as it does in some executions, might have been helped by it: that is no deadlock.
#include <pthread.h>
#include <semaphore.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);

static sem_t s;

static void *help(void *arg) {
    __VERIFIER_assume(__VERIFIER_nondet_bool());
    sem_post(&s);
    return arg;
}

int main(void) {
    pthread_t t;
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, help, 0);
    sem_wait(&s);
    return 0;
}
