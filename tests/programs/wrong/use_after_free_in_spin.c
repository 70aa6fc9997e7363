// raddle: --check memory
// engines: dpor, rf, rvf, mcr
// A thread spins on a flag inside of a block that another thread frees. It waits for nothing that anybody could write any more,
// and reads what is gone.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int *flag;

static void *release(void *unused) {
    free(flag);
    return unused;
}

int main(void) {
    flag = malloc(sizeof *flag);
    atomic_init(flag, 0);
    pthread_t thread;
    pthread_create(&thread, 0, release, 0);
    while (atomic_load(flag) == 0) {
    }
    pthread_join(thread, 0);
    return 0;
}
