// Which of its looks found something is told: all of them are explored.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;

static void *wait(void *arg) {
    int i = 0;
    while (i < 20 && !atomic_load(&ready))
        i++;
    assert(i != 7);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, wait, 0);
    atomic_store(&ready, 1);
    pthread_join(t, 0);
}
