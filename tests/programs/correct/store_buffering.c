// Under sequential consistency at least one thread sees the other's write.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int seen_y;

static void *left(void *arg) {
    (void)arg;
    atomic_store(&x, 1);
    seen_y = atomic_load(&y);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, left, 0);
    atomic_store(&y, 1);
    int seen_x = atomic_load(&x);
    pthread_join(t, 0);
    assert(seen_x || seen_y);
    return 0;
}
