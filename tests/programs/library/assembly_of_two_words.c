// bmc: refused
// Compares and exchanges two words at once, in the ways that libraries write it, and bits.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct pair {
    uint64_t low, high;
} __attribute__((aligned(16)));

static struct pair shared;
static uint32_t bits[2];

static bool exchange(struct pair *at, struct pair *expected, struct pair new) {
    bool done;
    __asm__ volatile("lock; cmpxchg16b %0; setz %3"
                     : "+m"(*at), "+a"(expected->low), "+d"(expected->high), "=q"(done)
                     : "b"(new.low), "c"(new.high)
                     : "memory", "cc");
    return done;
}

static bool exchange_behind(struct pair *at, struct pair *expected, struct pair *new) {
    bool done;
    __asm__ volatile("movq 0(%4), %%rax; movq 8(%4), %%rdx; lock cmpxchg16b %0; setz %1"
                     : "+m"(*at), "=q"(done)
                     : "b"(new->low), "c"(new->high), "q"(expected)
                     : "memory", "cc", "%rax", "%rdx");
    return done;
}

static bool set(uint32_t *at, uint32_t bit) {
    bool was;
    __asm__ volatile("lock; btsl %2, %0; setc %1" : "+m"(*at), "=q"(was) : "r"(bit) : "memory", "cc");
    return was;
}

static bool reset_first(uint32_t *at) {
    int was;
    __asm__ volatile("lock; btrl $0, %0; sbbl %1, %1" : "+m"(*at), "=r"(was) : : "memory", "cc");
    return was;
}

static void *work(void *arg) {
    struct pair expected = {0, 0};
    while (!exchange(&shared, &expected, (struct pair){expected.low + 1, expected.high + 2}))
        ;
    assert(!set(bits, 33) || (bits[0] & 1));
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    struct pair expected = {0, 0};
    for (;;) {
        struct pair new = {expected.low + 1, expected.high + 2};
        if (exchange_behind(&shared, &expected, &new))
            break;
        expected = (struct pair){1, 2};
    }
    pthread_join(t, 0);
    assert(shared.low == 2 && shared.high == 4);
    assert(bits[0] == 0 && bits[1] == 2 && set(&bits[1], 1));
    assert(!set(&bits[0], 0) && reset_first(&bits[0]) && !reset_first(&bits[0]));
}
