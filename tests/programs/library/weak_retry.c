// Loops that try again: failures for no reason make no difference, and no executions.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int sum;

void *keep(void *unused) {
    (void)unused;
    int old = atomic_load(&sum);
    while (!atomic_compare_exchange_weak(&sum, &old, old + 1)) {
    }
    return 0;
}

void *look_again(void *unused) {
    (void)unused;
    for (;;) {
        int old = atomic_load(&sum);
        if (atomic_compare_exchange_weak(&sum, &old, old + 1)) {
            break;
        }
    }
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, keep, 0);
    pthread_create(&other, 0, look_again, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(sum == 2);
}
