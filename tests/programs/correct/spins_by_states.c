// raddle: --engine states --check assert,memory
// engines: states
// A lock that threads spin for, three times each: without purity, and without a bound on the loop.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static int inside, sum;

static void *work(void *arg) {
    for (int i = 0; i < 3; i++) {
        while (atomic_exchange(&taken, 1))
            ;
        assert(++inside == 1);
        sum++;
        inside--;
        atomic_store(&taken, 0);
    }
    return arg;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(sum == 9);
    return 0;
}
