// raddle: --check deadlock
// Neither the race nor the failing assertion is looked for.
#include <assert.h>
#include <pthread.h>

static int x;

static void *set(void *arg) {
    (void)arg;
    x = 1;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    assert(x == 1);
    pthread_join(t, 0);
    return 0;
}
