// bmc: refused
// Two words that belong together are updated one after the other.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

static struct {
    uint64_t low, high;
} shared __attribute__((aligned(16)));

static bool exchange(uint64_t low, uint64_t high, uint64_t new_low, uint64_t new_high) {
    bool done;
    __asm__ volatile("lock; cmpxchg16b %0; setz %1"
                     : "+m"(shared), "=q"(done), "+a"(low), "+d"(high)
                     : "b"(new_low), "c"(new_high)
                     : "memory", "cc");
    return done;
}

static void *work(void *arg) {
    exchange(0, 0, 1, 0);
    exchange(1, 0, 1, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    // Nothing is to be found half done.
    assert(!exchange(1, 0, 1, 0));
    pthread_join(t, 0);
}
