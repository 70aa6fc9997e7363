// bmc: refused
// The environment belongs to nobody: looking something up while another thread sets a variable is a data race.
#include <pthread.h>
#include <stdlib.h>

static void *worker(void *arg) {
    return getenv("MODE");
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    setenv("MODE", "fast", 1);
    pthread_join(thread, NULL);
}
