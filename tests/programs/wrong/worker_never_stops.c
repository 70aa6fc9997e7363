// Nobody tells the worker to stop: the process does not end.
// engines: dpor, rf, rvf, mcr
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stop, work;

static void *worker(void *arg) {
    while (!atomic_load(&stop)) {
        if (atomic_load(&work) == 2) {
            break;
        }
    }
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_detach(t);
    atomic_store(&work, 1);
    return 0;
}
