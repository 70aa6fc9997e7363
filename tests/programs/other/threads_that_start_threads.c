// raddle: --threads 3 --engine rf
// Each thread starts two more, which has no end either. A thread of rank 3 is the second of `main`, or the first of its first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int started;

static void *run(void *arg) {
    pthread_t thread;
    started++;
    assert(started < 5);
    pthread_create(&thread, 0, run, arg);
    pthread_create(&thread, 0, run, arg);
    return arg;
}

int main(void) {
    run(0);
    return 0;
}
