// raddle: --max-executions 1
// engines: dpor, rf, naive
// A limit leaves the question open.
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
    atomic_store(&x, 2);
    pthread_join(t, 0);
    return atomic_load(&x) == 0;
}
