// bmc: refused
// engines: dpor, rf, rvf, mcr
// An event as a semaphore: whoever reads takes one of what was written, and waits for it.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>

static int event, made[2];

static void *produce(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        made[i] = i + 1;
        eventfd_write(event, 1);
    }
    return 0;
}

int main(void) {
    event = eventfd(0, EFD_SEMAPHORE);
    pthread_t producer;
    pthread_create(&producer, 0, produce, 0);
    for (int i = 0; i < 2; i++) {
        eventfd_t one;
        assert(eventfd_read(event, &one) == 0 && one == 1);
        assert(made[i] == i + 1);
    }
    pthread_join(producer, 0);
}
