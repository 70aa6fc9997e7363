// `malloc` does not make an atomic zero: an update depends on what was there.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int *count;

static void *work(void *arg) {
    (void)arg;
    atomic_fetch_add(count, 1);
    return 0;
}

int main(void) {
    pthread_t t;
    count = malloc(sizeof *count);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}
