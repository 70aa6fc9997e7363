// raddle: --threads 1 --engine rf
// No thread may be started, and nothing comes to its end: that says nothing.
#include <pthread.h>

static void *run(void *arg) { return arg; }

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
}
