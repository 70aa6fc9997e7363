// engines: dpor, rf, rvf
// A round of the loop that finds the door closed comes to nothing, whatever it would read after that: it is not run to its end.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int door, room;

static void *visit(void *arg) {
    (void)arg;
    int seen;
    for (;;) {
        int open = atomic_load(&door);
        seen = atomic_load(&room);
        if (open) {
            break;
        }
    }
    assert(seen == 3);
    return 0;
}

static void *furnish(void *arg) {
    (void)arg;
    for (int i = 1; i <= 3; i++) {
        atomic_store(&room, i);
    }
    atomic_store(&door, 1);
    return 0;
}

int main(void) {
    pthread_t visitor, host;
    pthread_create(&visitor, 0, visit, 0);
    pthread_create(&host, 0, furnish, 0);
    pthread_join(visitor, 0);
    pthread_join(host, 0);
    return 0;
}
