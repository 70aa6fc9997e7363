// raddle: --check assert
// A copy of a whole variable is seen as a whole, also where the same instruction might copy field by field.
#include <assert.h>
#include <pthread.h>
#include <string.h>

_Bool __VERIFIER_nondet_bool(void);

static struct { int a, b; } two;
static long one;

static void *store(void *arg) {
    long value = 0x100000001;
    void *to = &one;
    if (__VERIFIER_nondet_bool())
        to = &two;
    memcpy(to, &value, sizeof value);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, store, 0);
    char value[sizeof one];
    memcpy(value, &one, sizeof value);
    assert(value[0] == value[4]);
    return 0;
}
