// The flag says "freed", but it is set too late.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int freed;
static void *block;

static void *release(void *arg) {
    (void)arg;
    if (!atomic_load(&freed)) {
        free(block);
        atomic_store(&freed, 1);
    }
    return 0;
}

int main(void) {
    pthread_t t;
    block = malloc(16);
    pthread_create(&t, 0, release, 0);
    release(0);
    pthread_join(t, 0);
    return 0;
}
