// raddle: --engine dpor
// engines: dpor, rf
// bmc: endless
// Readers count themselves into the lock and look at what they found; while somebody writes they count themselves out again, without looking. They
// see each other in every round, and it makes no difference to them.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { WRITER = 1, READER = 2 };

static atomic_uint lock;
static int a, b;

static void *read_both(void *arg) {
    while (atomic_fetch_add(&lock, READER) & WRITER)
        atomic_fetch_sub(&lock, READER);
    assert(a == b);
    atomic_fetch_sub(&lock, READER);
    return arg;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, read_both, 0);
    unsigned expected = 0;
    while (!atomic_compare_exchange_strong(&lock, &expected, WRITER))
        expected = 0;
    a = 1;
    b = 1;
    atomic_fetch_and(&lock, ~WRITER);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
