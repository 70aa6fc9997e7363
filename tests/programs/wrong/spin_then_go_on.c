// Looks a thousand times and then goes on, as if what it waits for had come. The last look may be what counts, too.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;

static void *wait(void *arg) {
    int seen = 0;
    for (int i = 0; i < 1000; i++) {
        seen = atomic_load(&ready);
        if (seen == 2)
            break;
    }
    assert(seen != 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, wait, 0);
    atomic_store(&ready, 1);
    atomic_store(&ready, 2);
    pthread_join(t, 0);
}
