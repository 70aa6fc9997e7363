// raddle: --engine states --check assert,memory
// What a thread does last is done by nobody else, and still not before all that others do.
#include <assert.h>
#include <pthread.h>

static int done;

static void *work(void *arg) {
    done = 1;
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    assert(done);
    pthread_join(thread, 0);
    return 0;
}
