// bmc: refused
// engines: dpor, rf, rvf, mcr
// raddle: --env WORKERS=2 --env EMPTY=
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *worker(void *arg) {
    assert(!strcmp(getenv("MODE"), "fast"));
    return NULL;
}

int main(void) {
    assert(!getenv("HOME") && !strcmp(getenv("EMPTY"), ""));
    int workers = atoi(getenv("WORKERS"));
    assert(setenv("MODE", "slow", 0) == 0 && setenv("MODE", "fast", 1) == 0 && setenv("MODE", "late", 0) == 0);
    pthread_t threads[2];
    for (int i = 0; i < workers; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    unsetenv("WORKERS");
    assert(!getenv("WORKERS") && getenv("MODE"));
    static char text[] = "MODE=own";
    putenv(text);
    text[5] = 'O';
    assert(!strcmp(getenv("MODE"), "Own"));
}
