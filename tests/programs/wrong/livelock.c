// raddle: --check livelock
// engines: dpor, rf, rvf, mcr
// Two threads wait for each other's flag, and each sets its own too late.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int left, right;

static void *go_left(void *arg) {
    (void)arg;
    while (!atomic_load(&right)) {
    }
    atomic_store(&left, 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, go_left, 0);
    while (!atomic_load(&left)) {
    }
    atomic_store(&right, 1);
    pthread_join(t, 0);
    return 0;
}
