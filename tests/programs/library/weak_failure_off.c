// raddle: --no-spurious-failures
// The same without such failures: the answer says that they were left out.
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
