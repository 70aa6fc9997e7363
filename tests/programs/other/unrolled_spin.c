// raddle: --unroll 2
// A spin loop with a bound. Rounds in which nothing happens are not counted, so everything is covered.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;
static int data;

static void *set(void *arg) {
    (void)arg;
    data = 1;
    atomic_store(&flag, 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    while (!atomic_load(&flag)) {
    }
    assert(data == 1);
    pthread_join(t, 0);
    return 0;
}
