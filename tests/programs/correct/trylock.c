// trylock never waits: either thread counts only where it got the mutex.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *attempt(void *arg) {
    (void)arg;
    if (pthread_mutex_trylock(&m) == 0) {
        counter++;
        pthread_mutex_unlock(&m);
    }
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, attempt, 0);
    attempt(0);
    pthread_join(t, 0);
    assert(counter == 1 || counter == 2);
    return 0;
}
