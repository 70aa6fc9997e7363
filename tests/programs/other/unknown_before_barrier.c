// raddle: --memory tso
// engines: naive
// Who waits for a thread that came to something unknown might be helped by it: that is no deadlock.
#include <pthread.h>

double unknown(void);

static pthread_barrier_t b;

static void *help(void *arg) {
    unknown();
    pthread_barrier_wait(&b);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, help, 0);
    pthread_barrier_wait(&b);
    return 0;
}
