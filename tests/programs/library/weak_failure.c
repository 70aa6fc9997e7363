// Whoever does not get the turn goes on without it: a weak compare-exchange may fail although nobody else has it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int taken;
int served;

void *serve(void *unused) {
    (void)unused;
    int expected = 0;
    if (atomic_compare_exchange_weak(&taken, &expected, 1)) {
        served = 1;
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, serve, 0);
    pthread_join(thread, 0);
    assert(served == 1);
}
