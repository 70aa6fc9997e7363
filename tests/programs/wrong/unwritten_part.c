// Half of a number is written, and the whole is copied and compared.
// raddle: --check assert,memory
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned *shared;

static void *fill(void *arg) {
    unsigned short low = 7;
    pthread_mutex_lock(&mutex);
    memcpy(shared, &low, sizeof low);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t thread;
    shared = malloc(sizeof *shared);
    pthread_create(&thread, 0, fill, 0);
    pthread_join(thread, 0);
    unsigned copy;
    memcpy(&copy, shared, sizeof copy);
    assert((copy & 0xFFFF) == 7);
    assert(copy != 0xABCD0007);
    free(shared);
    return 0;
}
