// bmc: refused
// The address of a block follows from how many its thread allocated before. Where that depends on the path, `bmc` does not
// know the number.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
static atomic_int a;
static void *writer(void *p) { a = 1; return p; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    int *p = a ? malloc(8) : 0;
    int *q = malloc(8);
    assert((uintptr_t)q >> 32 == 2);
    free(q);
    free(p);
    pthread_join(t, 0);
    return 0;
}
