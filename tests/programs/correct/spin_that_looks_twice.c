// Looks at two things in each round. In its last round it cannot find the first one too early for the second: an earlier round would have ended it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a, b;

static void *write(void *arg) {
    atomic_store(&a, 1);
    atomic_store(&b, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, write, 0);
    int i, x = 0;
    for (i = 0; i < 3; i++) {
        x = atomic_load(&a);
        if (atomic_load(&b) == 0)
            break;
    }
    pthread_join(t, 0);
    assert(i < 3 || x == 1);
}
