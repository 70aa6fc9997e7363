// A thread that waits in a loop when the process exits is no deadlock.
// engines: dpor, rf, rvf, mcr
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int stop;

static void *worker(void *arg) {
    while (!atomic_load(&stop)) {
    }
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_detach(t);
    exit(0);
}
