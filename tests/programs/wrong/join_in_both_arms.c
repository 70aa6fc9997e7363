// A thread is started and joined on each of two ways: what comes after the join on either is done.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Bool __VERIFIER_nondet_bool(void);

static atomic_int done;

static void *work(void *arg) {
    (void)arg;
    done = 1;
    return 0;
}

int main(void) {
    pthread_t t;
    if (__VERIFIER_nondet_bool()) {
        pthread_create(&t, 0, work, 0);
        pthread_join(t, 0);
        assert(done == 0);
    } else {
        pthread_create(&t, 0, work, 0);
        pthread_join(t, 0);
    }
    return 0;
}
