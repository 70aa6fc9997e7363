// The thread is joined on one of two paths only: on the other, the writes race.
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

int shared;

void *writer(void *arg) {
    shared = 1;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    if (__VERIFIER_nondet_bool()) {
        pthread_join(thread, 0);
    }
    shared = 2;
    return 0;
}
