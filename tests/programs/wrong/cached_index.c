// A consumer keeps a copy of the index; the producer does not look whether there is room.
// engines: dpor, rf, rvf, mcr
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int written, taken;
static int cached_written;
static _Atomic int item;

static void *producer(void *arg) {
    for (int i = 0; i < 2; i++) {
        atomic_store(&item, i + 1);
        atomic_store(&written, i + 1);
    }
    return arg;
}

int main(void) {
    pthread_t p;
    pthread_create(&p, 0, producer, 0);
    for (int i = 0; i < 2; i++) {
        while (cached_written == i)
            cached_written = atomic_load(&written);
        assert(atomic_load(&item) == i + 1);
        atomic_store(&taken, i + 1);
    }
    pthread_join(p, 0);
}
