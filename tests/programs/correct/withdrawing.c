// engines: bmc
// A lock made of two flags: the guest takes its flag back if it finds the owner's set, and tries again; the owner waits. Rounds of the
// guest that the owner took no notice of come to nothing, so there is no bound to be given, and the answer is complete.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int owner, guest;
static int inside;

static void work(void) {
    inside++;
    assert(inside == 1);
    inside--;
}

static void *visit(void *arg) {
    for (;;) {
        atomic_store(&guest, 1);
        if (!atomic_load(&owner))
            break;
        atomic_store(&guest, 0);
    }
    work();
    atomic_store(&guest, 0);
    return arg;
}

static void *own(void *arg) {
    atomic_store(&owner, 1);
    while (atomic_load(&guest))
        ;
    work();
    atomic_store(&owner, 0);
    return arg;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, visit, 0);
    pthread_create(&u, 0, own, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
