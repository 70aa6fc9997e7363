// A sum in `long double` that is read under one lock and written under another taking of it: one of two additions is lost.
// bmc: refused
#include <assert.h>
#include <pthread.h>

static long double total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *amount) {
    pthread_mutex_lock(&lock);
    long double seen = total;
    pthread_mutex_unlock(&lock);
    seen += *(long double *)amount;
    pthread_mutex_lock(&lock);
    total = seen;
    pthread_mutex_unlock(&lock);
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
