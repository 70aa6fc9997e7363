// raddle: --format json
// Of the asserts one is never reached, and nobody calls `forgotten`. A wrapper that only fails is no assert of its own.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void fail(void) { assert(0); }

void forgotten(void) { assert(x > 7); }

static void *writer(void *arg) {
    x = 1;
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    int seen = x;
    assert(seen == 0 || seen == 1);
    if (seen == 2)
        assert(x == 2);
    if (seen > 2)
        fail();
    pthread_join(thread, 0);
    return 0;
}
