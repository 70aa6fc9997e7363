// A thread gets the address of a local variable whose function returns before it is joined.
#include <pthread.h>
#include <stdatomic.h>

static pthread_t t;

static void *work(void *arg) {
    atomic_fetch_add((atomic_int *)arg, 1);
    return 0;
}

static void start(void) {
    atomic_int local = 0;
    pthread_create(&t, 0, work, &local);
}

int main(void) {
    start();
    pthread_join(t, 0);
    return 0;
}
