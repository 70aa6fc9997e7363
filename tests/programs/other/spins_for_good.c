// raddle: --check assert
// Nobody sets the flag: where deadlocks are not looked for that is no violation, but it is said.
// engines: dpor, rf, rvf, mcr
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;

static void *nothing(void *arg) {
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, nothing, 0);
    while (!atomic_load(&ready))
        ;
    pthread_join(t, 0);
    return 0;
}
