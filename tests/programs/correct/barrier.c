// Each thread writes before the barrier and reads the other's value after it.
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static int left, right;

static void *other(void *arg) {
    (void)arg;
    right = 2;
    pthread_barrier_wait(&barrier);
    assert(left == 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&t, 0, other, 0);
    left = 1;
    pthread_barrier_wait(&barrier);
    assert(right == 2);
    pthread_join(t, 0);
    pthread_barrier_destroy(&barrier);
    return 0;
}
