// engines: dpor, rf, rvf, mcr
// The first round changes what only its thread sees, and does not take it back.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int phase;

static void *set(void *arg) {
    atomic_store(&ready, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    while (!atomic_load(&ready)) {
        phase = 1;
    }
    pthread_join(t, 0);
    assert(phase == 0);
}
