// same-value: three threads write 1 to x and y; the second also reads x, the third y. Both can read 1 only.
//
// Reads-value-from equivalence (CAV 2021), figure 1: 98 Mazurkiewicz classes, 9 of reads-from, 1 of reads-value-from.

#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;
static atomic_int y;

static void *first(void *unused) {
    atomic_store(&x, 1);
    atomic_store(&y, 1);
    return unused;
}

static void *second(void *unused) {
    atomic_store(&x, 1);
    atomic_store(&y, 1);
    atomic_load(&x);
    return unused;
}

static void *third(void *unused) {
    atomic_store(&x, 1);
    atomic_store(&y, 1);
    atomic_load(&y);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, first, 0);
    pthread_create(&thread, 0, second, 0);
    pthread_create(&thread, 0, third, 0);
    return 0;
}
