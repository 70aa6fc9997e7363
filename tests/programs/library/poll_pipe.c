// bmc: refused
// engines: dpor, rf, rvf, mcr
// poll on a pipe: with and without waiting, and at its end; a pipe that does not wait.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *send(void *unused) {
    (void)unused;
    assert(write(ends[1], "x", 1) == 1);
    close(ends[1]);
    return 0;
}

int main(void) {
    pipe(ends);
    struct pollfd watched = {.fd = ends[0], .events = POLLIN};
    assert(poll(&watched, 1, 0) == 0);
    assert(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    char byte;
    assert(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
    pthread_t sender;
    pthread_create(&sender, 0, send, 0);
    assert(poll(&watched, 1, -1) == 1 && (watched.revents & POLLIN));
    assert(read(ends[0], &byte, 1) == 1 && byte == 'x');
    pthread_join(sender, 0);
    assert(poll(&watched, 1, -1) == 1 && watched.revents == POLLHUP);
}
