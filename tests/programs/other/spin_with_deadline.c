// The loop gives up when time is up: the thread does not wait for good.
// engines: dpor, rf, rvf, mcr
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int ready;

static void *nothing(void *arg) {
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, nothing, 0);
    time_t end = time(0) + 5;
    while (!atomic_load(&ready) && time(0) < end) {
    }
    pthread_join(t, 0);
    return 0;
}
