// raddle: --format json
// The format for scripts.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *set(void *arg) {
    (void)arg;
    atomic_store(&x, -1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    assert(atomic_load(&x) == 0);
    pthread_join(t, 0);
    return 0;
}
