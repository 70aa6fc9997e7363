// raddle: --memory tso
// engines: naive
// One thread comes to something unknown, another one to a violation.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

double unknown(void);

static atomic_int x;

static void *set(void *arg) {
    x = 1;
    unknown();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    assert(x == 0);
    return 0;
}
