// raddle: --engine dpor --check assert
// engines: dpor, rf
// A round of the loop takes the lock, updates it without changing it, and gives it back. That another thread saw the lock taken before the update
// counts: it makes the next round end the loop.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int word, seen, done;

static void *look(void *arg) {
    if (atomic_load(&word) != 1)
        return arg;
    atomic_store(&seen, 1);
    if (atomic_load(&word) == 0)
        atomic_store(&done, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, look, 0);
    for (;;) {
        int expected = 0;
        while (!atomic_compare_exchange_strong(&word, &expected, 1))
            expected = 0;
        if (!atomic_load(&seen))
            return 0;
        int is_done = atomic_load(&done);
        atomic_fetch_or(&word, 1);
        atomic_store(&word, 0);
        if (is_done)
            break;
    }
    assert(!"the lock was seen");
}
