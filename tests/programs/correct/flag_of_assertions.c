// bmc: endless
// engines: dpor, rf, rvf, mcr
// A flag that a thread sets and takes back in each round, to assert that nobody else is inside: nobody else looks at it, so rounds that find nothing are left out.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct queue {
    atomic_int full;
    int item;
    bool popping;
    int rounds[2];
} *queue;

static bool pop(int *item) {
    assert(!queue->popping);
    queue->popping = true;
    int before = queue->rounds[0];
    queue->rounds[0] = before + 1;
    bool found = atomic_load(&queue->full);
    if (found)
        *item = queue->item;
    queue->rounds[0] = before;
    queue->popping = false;
    return found;
}

static void *push(void *unused) {
    (void)unused;
    queue->item = 7;
    atomic_store(&queue->full, 1);
    return 0;
}

int main(void) {
    queue = calloc(1, sizeof *queue);
    pthread_t other;
    pthread_create(&other, 0, push, 0);
    int item = 0;
    while (!pop(&item))
        ;
    pthread_join(other, 0);
    assert(item == 7);
    free(queue);
}
