// raddle: --engine dpor
// engines: dpor, rf
// The second reader leaves the lock twice if it has had to wait: nobody can write after that.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { WRITER = 1, READER = 2 };

static atomic_uint lock;
static int a, b;

static void *read_both(void *arg) {
    int waited = 0;
    while (atomic_fetch_add(&lock, READER) & WRITER) {
        atomic_fetch_sub(&lock, READER);
        waited = arg != 0;
    }
    assert(a == b);
    atomic_fetch_sub(&lock, waited ? 2 * READER : READER);
    return arg;
}

static void write_both(int value) {
    unsigned expected = 0;
    while (!atomic_compare_exchange_strong(&lock, &expected, WRITER))
        expected = 0;
    a = value;
    b = value;
    atomic_fetch_and(&lock, ~WRITER);
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, read_both, i ? &lock : 0);
    write_both(1);
    write_both(2);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
