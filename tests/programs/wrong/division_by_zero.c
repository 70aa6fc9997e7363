// The divisor is set by a thread that may be late.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int divisor;

static void *set(void *arg) {
    (void)arg;
    atomic_store(&divisor, 2);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    int result = 10 / atomic_load(&divisor);
    pthread_join(t, 0);
    return result;
}
