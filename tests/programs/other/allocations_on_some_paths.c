// How many blocks there are before this one depends on a choice. Both threads may read before either of them writes.
// raddle: --check assert
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

_Bool __VERIFIER_nondet_bool(void);

static int *counter;

static void *count(void *arg) {
    (void)arg;
    *counter = *counter + 1;
    return 0;
}

int main(void) {
    pthread_t t;
    long *other = 0;
    if (__VERIFIER_nondet_bool())
        other = malloc(sizeof *other);
    counter = malloc(sizeof *counter);
    pthread_create(&t, 0, count, 0);
    *counter = *counter + 1;
    pthread_join(t, 0);
    assert(other || *counter == 2);
    return 0;
}
