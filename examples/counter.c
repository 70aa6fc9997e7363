// Two threads count without a lock. Raddle finds the data race:
//   raddle check examples/counter.c
#include <pthread.h>

static int counter;

static void *count(void *arg) {
    (void)arg;
    counter++;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, count, 0);
    pthread_create(&b, 0, count, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
