// raddle: --check overflow
// Signed overflow, looked for on demand.
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x = INT_MAX;

static void *reset(void *arg) {
    (void)arg;
    atomic_store(&x, 0);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, reset, 0);
    int next = atomic_load(&x) + 1;
    pthread_join(t, 0);
    return next;
}
