// bmc: refused
// raddle: --malloc-may-fail
// Whoever looks at what malloc returns has nothing to fear; realloc leaves the old block as it was.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static void *work(void *arg) {
    int *one = malloc(sizeof *one);
    if (!one) {
        assert(errno == ENOMEM);
        return arg;
    }
    *one = 1;
    int *two = realloc(one, 2 * sizeof *two);
    if (two) {
        assert(two[0] == 1);
        one = two;
    }
    assert(*one == 1);
    free(one);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
}
