// Two threads add with a loop that tries again, and count how often they failed. Each may fail once because of the other, and for no reason besides.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int sum;
atomic_int failures;

void *add(void *unused) {
    (void)unused;
    int old = 0;
    while (!atomic_compare_exchange_weak(&sum, &old, old + 1)) {
        atomic_fetch_add(&failures, 1);
    }
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, add, 0);
    pthread_create(&other, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(sum == 2);
    assert(failures <= 1);
}
