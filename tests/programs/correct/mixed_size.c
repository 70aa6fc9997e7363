// Bytes and the word that they make up are the same memory.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static union {
    _Atomic uint32_t word;
    _Atomic uint8_t byte[4];
} shared;

static void *low(void *arg) {
    (void)arg;
    atomic_store(&shared.byte[0], 0x11);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, low, 0);
    atomic_store(&shared.byte[3], 0x44);
    uint32_t seen = atomic_load(&shared.word);
    assert(seen == 0x44000000u || seen == 0x44000011u);
    pthread_join(t, 0);
    assert(atomic_load(&shared.word) == 0x44000011u);
    return 0;
}
