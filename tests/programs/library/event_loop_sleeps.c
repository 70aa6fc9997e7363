// bmc: refused
// The loop takes the event of both workers at once, and waits for a second one.
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event;

static void *work(void *unused) {
    (void)unused;
    uint64_t one = 1;
    write(event, &one, sizeof one);
    return 0;
}

int main(void) {
    int loop = epoll_create1(0);
    event = eventfd(0, 0);
    struct epoll_event watched = {.events = EPOLLIN, .data.fd = event}, happened;
    epoll_ctl(loop, EPOLL_CTL_ADD, event, &watched);
    pthread_t workers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], 0, work, 0);
    for (int i = 0; i < 2; i++) {
        uint64_t count;
        epoll_wait(loop, &happened, 1, -1);
        read(event, &count, sizeof count);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], 0);
}
