// engines: dpor, rf, rvf, mcr
// One way out of the loop does not take the flag back.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int full;
static bool popping;

static bool pop(void) {
    assert(!popping);
    popping = true;
    int found = atomic_load(&full);
    if (found == 1)
        return false;
    popping = false;
    return found == 2;
}

static void *push(void *unused) {
    (void)unused;
    atomic_store(&full, 1);
    atomic_store(&full, 2);
    return 0;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, push, 0);
    while (!pop())
        ;
    pthread_join(other, 0);
}
