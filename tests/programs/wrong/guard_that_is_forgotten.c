// A flag of the consumer that one way out does not take back: the second look fails the assertion.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int tail;
static bool inside;

static bool look(void) {
    assert(!inside);
    inside = true;
    if (atomic_load(&tail) == 0)
        return false;
    inside = false;
    return true;
}

static void *produce(void *arg) {
    atomic_store(&tail, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, produce, 0);
    while (!look())
        ;
    pthread_join(t, 0);
}
