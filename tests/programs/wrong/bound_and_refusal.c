// A lock behind a loop, and an assertion behind both.
// Which mutex it is is known as long as no loop goes round twice. Where it is not, a formula has a case for each;
// one that refused the lock, and what lies behind, would not make it fine.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int condition);

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *_Atomic current = &first;

static void *work(void *arg) {
    (void)arg;
    pthread_mutex_t *mutex = current;
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    int rounds = 0;
    while (__VERIFIER_nondet_bool()) {
        rounds++;
        __VERIFIER_assume(rounds < 4);
    }
    if (rounds == 2) {
        current = &second;
        assert(rounds < 2);
    }
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    return 0;
}
