// approxds-append: N threads append to a list of N-2 slots without any synchronisation; elements may get lost.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 6, after Rinard's approximate data structures.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 4
#endif
#define SLOTS (N - 2)

static atomic_int slot[SLOTS];
static atomic_int next;

static void *append(void *arg) {
    int i = atomic_load(&next);
    if (i >= SLOTS) {
        return 0;
    }
    atomic_store(&slot[i], (int)(long)arg);
    atomic_store(&next, i + 1);
    return 0;
}

/* The last element, or 0 if there is none. */
static int pop(void) {
    int i = atomic_load(&next);
    int element;
    do {
        if (i == 0) {
            return 0;
        }
        element = atomic_load(&slot[i - 1]);
    } while (atomic_load(&next) != i);
    atomic_store(&next, i - 1);
    return element;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, append, (void *)(i + 1));
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    while (pop() != 0) {
    }
    return 0;
}
