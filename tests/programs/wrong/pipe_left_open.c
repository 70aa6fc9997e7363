// bmc: refused
// The reader waits for the end, but has the other end of the pipe open itself.
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *arg) {
    write(ends[1], "x", 1);
    return NULL;
}

int main(void) {
    pipe(ends);
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    char byte;
    while (read(ends[0], &byte, 1) > 0) {
    }
    pthread_join(thread, NULL);
}
