// bmc: refused
// Counts cycles, as benchmarks and locks that back off do.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <x86intrin.h>

static atomic_int ready;

static uint64_t cycles(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static void *work(void *arg) {
    uint64_t begin = __rdtsc();
    // Gives up some day.
    while (!atomic_load(&ready) && __rdtsc() - begin < 1000)
        __builtin_ia32_pause();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    uint64_t before = cycles();
    unsigned processor;
    uint64_t after = __rdtscp(&processor);
    assert(before <= after);
    atomic_store(&ready, 1);
    pthread_join(t, 0);
}
