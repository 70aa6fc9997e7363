// Sums in `long double`: x86's 80 bits hold what `double` cannot.
// bmc: refused
#include <assert.h>
#include <pthread.h>

static long double total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(long double amount) {
    pthread_mutex_lock(&lock);
    total += amount;
    pthread_mutex_unlock(&lock);
}

static void *large(void *unused) {
    (void)unused;
    add(0x1p60L);
    return 0;
}

static void *small(void *unused) {
    (void)unused;
    add(1.0L);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, large, 0);
    pthread_create(&threads[1], 0, small, 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], 0);
    }
    // In `double` the small one would be lost.
    assert(total - 0x1p60L == 1.0L);
    assert((long long)total == (1LL << 60) + 1);
    assert((double)total == 0x1p60 && __builtin_fabsl(-total) == total);
}
