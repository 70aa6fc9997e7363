// raddle: --unroll 2 --format json
// Some executions are cut, others come to their end: what holds of those is the answer, and the cut ones are counted.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *writer(void *arg) {
    x = 1;
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    int rounds = 0;
    while (atomic_exchange(&x, 0) == 0)
        rounds++;
    assert(rounds <= 2);
    pthread_join(thread, 0);
    return 0;
}
