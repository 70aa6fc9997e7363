// The error function of the verification competition.
#include <pthread.h>
#include <stdatomic.h>

void reach_error(void) {}

static atomic_int x;

static void *set(void *arg) {
    (void)arg;
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    int first = atomic_load(&x);
    int second = atomic_load(&x);
    if (first == 1 && second == 2)
        reach_error();
    pthread_join(t, 0);
    return 0;
}
