// A sum in `long double` that two threads add to without a lock: one of them is lost.
// bmc: refused
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic long double total;

static void *add(void *amount) {
    long double seen = atomic_load(&total);
    atomic_store(&total, seen + *(long double *)amount);
    return 0;
}

int main(void) {
    static long double amounts[] = {0.5L, 0.25L};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, add, &amounts[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], 0);
    }
    assert(total == 0.75L);
}
