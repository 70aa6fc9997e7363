// Any number of threads come and go. Broken: more than three may be there at once.
#include "task.h"
static int there;

static void *come_and_go(void *arg) {
    __VERIFIER_atomic_begin();
    int with_me = ++there;
    __VERIFIER_atomic_end();
    CLAIM(!BROKEN || with_me < 4);
    __VERIFIER_atomic_begin();
    there--;
    __VERIFIER_atomic_end();
    return arg;
}

int main(void) {
    pthread_t thread;
    while (__VERIFIER_nondet_bool())
        pthread_create(&thread, 0, come_and_go, 0);
    return 0;
}
