// Atomic objects that are too large for the machine are copied whole.
#pragma clang diagnostic ignored "-Watomic-alignment"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct triple {
    long a, b, c;
};
struct odd {
    char bytes[3];
};

static _Atomic struct triple shared;
static _Atomic struct odd odd;

static void *work(void *arg) {
    struct triple ones = {1, 1, 1};
    atomic_store(&shared, ones);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    struct triple seen = atomic_load(&shared);
    assert(seen.a == seen.b && seen.b == seen.c);
    struct triple expected = {0, 0, 0}, twos = {2, 2, 2};
    if (!atomic_compare_exchange_strong(&shared, &expected, twos))
        assert(expected.a == 1 && expected.c == 1);
    pthread_join(t, 0);
    struct triple threes = {3, 3, 3}, old = atomic_exchange(&shared, threes);
    assert(old.a == old.b && old.a > 0);
    struct odd o = {{1, 2, 3}};
    atomic_store(&odd, o);
    o = atomic_load(&odd);
    assert(o.bytes[2] == 3);
    return 0;
}
