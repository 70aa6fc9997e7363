// bmc: refused
// raddle: --malloc-may-fail
// Nobody looks whether there was memory.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *arg) {
    int *count = calloc(1, sizeof *count);
    ++*count;
    free(count);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
}
