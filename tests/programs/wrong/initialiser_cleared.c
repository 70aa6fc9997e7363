// raddle: --check memory
// bmc: refused
// Unlocking a mutex that checks for errors is no misuse; `memset` by another thread makes it an ordinary one.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void *clear(void *arg) {
    memset(&m, 0, sizeof m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, clear, 0);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
