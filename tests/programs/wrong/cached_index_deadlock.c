// Nobody ever says that there is something: the loop goes round for good, although it stores.
// engines: dpor, rf, rvf, mcr
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int cache;

static void *other(void *arg) {
    atomic_store(&ready, 0);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    while (cache == 0)
        cache = atomic_load(&ready);
    pthread_join(t, 0);
}
