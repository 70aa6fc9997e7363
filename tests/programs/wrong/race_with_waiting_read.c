// engines: dpor, rf, rvf, mcr
// A thread waits for a value by relaxed reads, and another one writes plainly what it waits at: none of the reads that find something else leads
// anywhere, but each is in a race.
#include <pthread.h>

int state;

static void *wait(void *arg) {
    while (__atomic_load_n(&state, __ATOMIC_RELAXED) != 2) {
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, wait, 0);
    state = 1;
    __atomic_store_n(&state, 2, __ATOMIC_RELAXED);
    pthread_join(thread, 0);
    return 0;
}
