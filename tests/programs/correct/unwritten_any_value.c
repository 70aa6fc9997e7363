// What happens depends on memory that nobody has written, and is right whatever it holds: it is the same as long as nobody writes it, and so are copies.
// raddle: --check assert,memory
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct block {
    unsigned first, second;
};
static unsigned seen[2];

static void *look(void *arg) {
    struct block *block = arg;
    seen[0] = block->first;
    return 0;
}

static unsigned even(void) {
    unsigned own;
    return own * 2;
}

int main(void) {
    struct block *block = malloc(sizeof *block), copy;
    unsigned *zeroed = calloc(2, sizeof *zeroed);
    pthread_t thread;
    pthread_create(&thread, 0, look, block);
    seen[1] = block->first;
    pthread_join(thread, 0);
    assert(seen[0] == seen[1]);
    memcpy(&copy, block, sizeof copy);
    assert(copy.second == block->second);
    if (copy.second > 10)
        assert(block->second != 10);
    assert(even() % 2 == 0);
    assert(zeroed[1] == 0);
    free(zeroed);
    free(block);
    return 0;
}
