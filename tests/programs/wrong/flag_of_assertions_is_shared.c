// Two threads pop, so the flag that is set and taken back is no thread's own.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int full;
static bool popping;

static bool pop(void) {
    popping = true;
    bool found = atomic_load(&full);
    popping = false;
    return found;
}

static void *consumer(void *unused) {
    (void)unused;
    for (int i = 0; i < 2 && !pop(); i++)
        ;
    return 0;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, consumer, 0);
    atomic_store(&full, 1);
    pop();
    pthread_join(other, 0);
}
