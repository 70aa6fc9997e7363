// Only one of two ways joins the thread; on the other it may still be under way when the variable changes.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Bool __VERIFIER_nondet_bool(void);

static atomic_int changed;

static void *work(void *arg) {
    (void)arg;
    assert(changed == 0);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    if (__VERIFIER_nondet_bool())
        pthread_join(t, 0);
    changed = 1;
    return 0;
}
