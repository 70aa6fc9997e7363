// raddle: --keep-going
// Two places can go wrong, in different executions: both are reported.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *set(void *arg) {
    (void)arg;
    atomic_store(&x, 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    if (atomic_load(&x))
        assert(!"seen");
    else
        assert(!"not seen");
    return 0;
}
