// bmc: refused
// engines: dpor, rf
// A loop that waits for an event and a pipe with epoll, and threads that wake it.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event, result;

static void *work(void *unused) {
    (void)unused;
    uint64_t one = 1;
    result = 42;
    assert(write(event, &one, sizeof one) == sizeof one);
    return 0;
}

int main(void) {
    int loop = epoll_create1(0);
    event = eventfd(0, EFD_NONBLOCK);
    uint64_t count;
    assert(read(event, &count, sizeof count) == -1 && errno == EAGAIN);
    struct epoll_event watched = {.events = EPOLLIN, .data.fd = event};
    assert(epoll_ctl(loop, EPOLL_CTL_ADD, event, &watched) == 0);
    assert(epoll_ctl(loop, EPOLL_CTL_ADD, event, &watched) == -1 && errno == EEXIST);
    struct epoll_event happened[4];
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
    assert(epoll_wait(loop, happened, 4, -1) == 1);
    assert(happened[0].events == EPOLLIN && happened[0].data.fd == event);
    assert(read(event, &count, sizeof count) == sizeof count && count == 1);
    assert(result == 42);
    pthread_join(worker, 0);
    assert(epoll_wait(loop, happened, 4, 0) == 0);
    assert(epoll_ctl(loop, EPOLL_CTL_DEL, event, 0) == 0);
    close(event);
    close(loop);
}
