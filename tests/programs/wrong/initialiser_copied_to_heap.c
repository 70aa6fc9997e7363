// raddle: --check deadlock
// engines: dpor rf rvf mcr bpor
// bmc: refused
// A mutex in a block of zeros gets the initialiser of another one by `memcpy`, if a flag is set: that is met late.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t *m;
static atomic_int flag;

static void *twice(void *arg) {
    pthread_mutex_lock(m);
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    pthread_mutex_unlock(m);
    return arg;
}

static void *set(void *arg) {
    flag = 1;
    return arg;
}

int main(void) {
    static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, normal;
    pthread_t t, u;
    m = calloc(1, sizeof *m);
    memcpy(m, &recursive, sizeof recursive);
    pthread_create(&u, 0, set, 0);
    pthread_create(&t, 0, twice, 0);
    if (flag)
        memcpy(m, &normal, sizeof normal);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
