// raddle: --check assert
// A copy goes along with the fields of what it leads to: of a struct, half of it may be seen.
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
    long value;
    void *from = &one;
    if (__VERIFIER_nondet_bool())
        from = &two;
    memcpy(&value, from, sizeof value);
    assert(value != 1);
    return 0;
}
