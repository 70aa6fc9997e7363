// raddle: --full
// `--full` shows every step, also the lives of local variables.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int counter;

static void *count(void *arg) {
    (void)arg;
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, count, 0);
    count(0);
    pthread_join(t, 0);
    assert(counter == 2);
    return 0;
}
