// A thread that nobody joins fails when `main` has returned: the report says so.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int left;

static void *work(void *arg) {
    assert(!left);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    left = 1;
    return 0;
}
