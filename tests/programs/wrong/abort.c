// `abort` where two threads meet.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int arrived;

static void *arrive(void *arg) {
    (void)arg;
    if (atomic_fetch_add(&arrived, 1) == 1)
        abort();
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, arrive, 0);
    arrive(0);
    pthread_join(t, 0);
    return 0;
}
