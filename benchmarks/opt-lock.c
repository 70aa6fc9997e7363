// opt-lock: two threads try an optimistic lock at most N times each.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 3.

#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int x;
static atomic_int y;

static void *attempt(void *arg) {
    int id = (int)(long)arg;
    for (int i = 0; i < N; i++) {
        atomic_store(&x, id);
        atomic_store(&y, 1);
        if (atomic_load(&x) == id) {
            atomic_load(&y);
            break;
        }
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, attempt, (void *)0L);
    pthread_create(&thread, 0, attempt, (void *)1L);
    return 0;
}
