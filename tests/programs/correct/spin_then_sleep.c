// Looks a thousand times before it sleeps, as adaptive locks do: one look is as good as all of them.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int ready;
static sem_t wakes;
static int data;

static int look(void) {
    return atomic_load(&ready);
}

static bool comes_in_time(void) {
    for (int i = 0; i < 1000; i++) {
        if (look())
            return true;
    }
    return false;
}

static bool comes_soon(void) {
    int left = 500;
    while (left > 0 && !atomic_load(&ready))
        left--;
    return left > 0;
}

static void *wait(void *arg) {
    if (!comes_in_time() && !comes_soon())
        sem_wait(&wakes);
    assert(data == 1);
    return arg;
}

int main(void) {
    sem_init(&wakes, 0, 0);
    pthread_t t;
    pthread_create(&t, 0, wait, 0);
    data = 1;
    atomic_store(&ready, 1);
    sem_post(&wakes);
    pthread_join(t, 0);
}
