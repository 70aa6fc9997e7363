// raddle: --engine graph --check memory
// engines: graph
// The access comes first in the graph, and the free could have.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int *p, done;

static void *release(void *arg) {
    free((void *)p);
    return arg;
}

int main(void) {
    pthread_t t;
    p = malloc(sizeof *p);
    *p = 0;
    pthread_create(&t, 0, release, 0);
    atomic_fetch_add_explicit(p, 1, memory_order_relaxed);
    done = 1;
    pthread_join(t, 0);
    return 0;
}
