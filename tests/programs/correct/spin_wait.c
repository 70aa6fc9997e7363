// engines: dpor, rf, rvf, mcr
// A loop that waits for another thread: its pure iterations are not explored one by one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int flag;

static void *set(void *arg) {
    (void)arg;
    data = 1;
    atomic_store(&flag, 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    while (!atomic_load(&flag)) {
    }
    assert(data == 1);
    pthread_join(t, 0);
    return 0;
}
