// Memory that nobody has written decides, and nobody asks for that; it goes wrong if it is zero, which it may be.
// raddle: --check assert,memory
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *look(void *arg) {
    assert(*(int *)arg != 0);
    return 0;
}

int main(void) {
    int *number = malloc(sizeof *number);
    pthread_t thread;
    pthread_create(&thread, 0, look, number);
    pthread_join(thread, 0);
    free(number);
}
