// What nobody has written is copied, but nothing depends on it: structs by value, unions, padding, bit-fields, blocks that
// `calloc` zeroes and `realloc` moves.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    long first, second;
};
struct padded {
    char tag;
    long value;
};
struct flags {
    unsigned low : 3, high : 13;
};
union word {
    long whole;
    char bytes[8];
};

static struct pair make(long first) {
    struct pair pair;
    pair.first = first;
    return pair;
}

static long first_of(struct pair pair) { return pair.first; }

static struct {
    struct pair pair;
    struct padded padded;
    struct flags *flags;
    atomic_int *zeroed;
    int *numbers;
} shared;

static void *work(void *arg) {
    (void)arg;
    struct pair copy = shared.pair;
    assert(first_of(copy) == 3);
    shared.flags->high = 5;
    assert(shared.flags->low == 1);
    assert(atomic_fetch_add(shared.zeroed, 1) == 0);
    assert(shared.numbers[0] == 7);
    return 0;
}

int main(void) {
    pthread_t t;
    shared.pair = make(3);
    struct padded padded;
    padded.tag = 'x';
    padded.value = 1;
    memcpy(&shared.padded, &padded, sizeof padded);
    shared.flags = malloc(sizeof *shared.flags);
    shared.flags->low = 1;
    shared.zeroed = calloc(1, sizeof *shared.zeroed);
    shared.numbers = malloc(2 * sizeof(int));
    shared.numbers[0] = 7;
    shared.numbers = realloc(shared.numbers, 4 * sizeof(int));
    union word word;
    word.bytes[0] = 1;
    long whole = word.whole;
    (void)whole;
    int maybe;
    if (shared.flags->low == 1)
        maybe = 1;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    if (shared.flags->low == 1)
        assert(maybe == 1);
    return 0;
}
