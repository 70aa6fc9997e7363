// A test-and-set lock; losing the race for the flag is assumed away.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_flag taken = ATOMIC_FLAG_INIT;
static int counter;

static void *add_one(void *arg) {
    (void)arg;
    __VERIFIER_assume(!atomic_flag_test_and_set_explicit(&taken, memory_order_acquire));
    counter++;
    atomic_flag_clear_explicit(&taken, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, add_one, 0);
    add_one(0);
    pthread_join(t, 0);
    assert(counter == 2);
    return 0;
}
