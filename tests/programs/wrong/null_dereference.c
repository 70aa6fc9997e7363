// The pointer is published in one thread, and used without a check in the other.
#include <pthread.h>
#include <stdatomic.h>

struct config {
    int version, level;
};

static struct config global = {1, 2};
static _Atomic(struct config *) current;

static void *publish(void *arg) {
    (void)arg;
    atomic_store(&current, &global);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, publish, 0);
    int level = atomic_load(&current)->level;
    pthread_join(t, 0);
    return level;
}
