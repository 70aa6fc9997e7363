// bmc: refused
// engines: dpor, rf, rvf, mcr
// A pipe between two threads: bytes in order, and the end when nobody can write any more. What was written before is seen.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];
static int message;

static void *writer(void *arg) {
    message = 42;
    assert(write(ends[1], "ab", 2) == 2);
    assert(close(ends[1]) == 0);
    return NULL;
}

int main(void) {
    assert(pipe(ends) == 0);
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    char bytes[4];
    assert(read(ends[0], bytes, 1) == 1 && bytes[0] == 'a');
    assert(message == 42);
    assert(read(ends[0], bytes, 4) == 1 && bytes[0] == 'b');
    assert(read(ends[0], bytes, 4) == 0);
    pthread_join(thread, NULL);
    assert(close(ends[0]) == 0);
    assert(close(ends[0]) == -1);
}
