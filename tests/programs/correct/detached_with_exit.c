// raddle: --on-main-return exit
// The process ends with `main`: the detached thread may or may not have run, and that is no deadlock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int done;

static void *worker(void *arg) {
    (void)arg;
    atomic_store(&done, 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_detach(t);
    int seen = atomic_load(&done);
    assert(seen == 0 || seen == 1);
    return 0;
}
