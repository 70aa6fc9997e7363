// The block is too small only if its size was read late.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int small;
static void *shrink(void *p) { small = 1; return p; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, shrink, 0);
    int *first = malloc(small ? 8 : 16), *second = malloc(small ? 8 : 16);
    assert(first < second);
    second[2] = 1;
    free(second);
    free(first);
    pthread_join(t, 0);
    return 0;
}
