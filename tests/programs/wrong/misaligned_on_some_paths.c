// The same instruction accesses one element, or parts of two: then it goes in two halves.
// raddle: --check assert
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int n;
static long x[4];
static long *_Atomic p = x;

static void *store(void *arg) {
    *p = 1;
    if (n) {
        p = (long *)((char *)x + 3);
        assert(0);
    }
    return arg;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, store, 0);
    pthread_create(&u, 0, store, 0);
    n = 3;
    return 0;
}
