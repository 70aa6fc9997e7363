// engines: dpor, rf, rvf, mcr
// raddle: --volatile-is-atomic
// A flag that is only looked at.
#include <assert.h>
#include <pthread.h>

volatile int stop;

void *work(void *unused) {
    (void)unused;
    while (!stop) {
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    stop = 1;
    pthread_join(thread, 0);
    assert(stop == 1);
}
