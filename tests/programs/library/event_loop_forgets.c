// bmc: refused
// The worker wakes the loop before it has stored its result.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event, result;

static void *work(void *unused) {
    (void)unused;
    uint64_t one = 1;
    write(event, &one, sizeof one);
    result = 42;
    return 0;
}

int main(void) {
    int loop = epoll_create1(0);
    event = eventfd(0, 0);
    struct epoll_event watched = {.events = EPOLLIN, .data.fd = event}, happened;
    epoll_ctl(loop, EPOLL_CTL_ADD, event, &watched);
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
    epoll_wait(loop, &happened, 1, -1);
    assert(result == 42);
    pthread_join(worker, 0);
}
