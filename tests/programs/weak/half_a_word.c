// raddle: --engine naive --memory tso --check assert
// engines: naive
// A word is read while one half of it is still in the own store buffer: a value that memory never has.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static union {
    volatile uint32_t whole;
    volatile uint16_t halves[2];
} shared;
static uint32_t seen;

static void *high(void *arg) {
    (void)arg;
    shared.halves[1] = 1;
    seen = shared.whole;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, high, 0);
    shared.halves[0] = 1;
    uint32_t also = shared.whole;
    pthread_join(t, 0);
    // Each saw its own half alone.
    assert(!(seen == 0x10000 && also == 1));
    return 0;
}
