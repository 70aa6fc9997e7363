// The initialiser runs exactly once, and before either thread goes on.
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int runs;

static void initialise(void) { runs++; }

static void *worker(void *arg) {
    (void)arg;
    pthread_once(&once, initialise);
    assert(runs == 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_once(&once, initialise);
    assert(runs == 1);
    pthread_join(t, 0);
    return 0;
}
