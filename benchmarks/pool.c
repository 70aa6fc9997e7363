// pool: two threads borrow an object from a pool of one, and return it. With BUG the pool looks whether there may be another
// object, and makes it, in two steps.
//
// After "Pool" of maximal causality reduction (PLDI 2015): three threads, more instances than allowed.

#include <assert.h>
#include <pthread.h>

#define MOST 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int active;

static int borrow(void) {
    pthread_mutex_lock(&lock);
    int available = active < MOST;
#ifdef BUG
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (available) {
        active = active + 1;
        assert(active <= MOST);
    }
    pthread_mutex_unlock(&lock);
    return available;
}

static void give_back(void) {
    pthread_mutex_lock(&lock);
    active = active - 1;
    pthread_mutex_unlock(&lock);
}

static void *use(void *unused) {
    if (borrow()) {
        give_back();
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, use, 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
