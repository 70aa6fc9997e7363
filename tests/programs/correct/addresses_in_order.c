// What a thread allocates later lies higher, however large it is: in every execution and every engine.
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
    char *p = malloc(a ? 8 : 16);
    char *q = malloc(a ? 100000 : 4);
    char *r = malloc(8);
    assert(p < q && q < r);
    assert((uintptr_t)p % 16 == 0 && (uintptr_t)q % 16 == 0);
    free(p);
    free(q);
    free(r);
    pthread_join(t, 0);
    return 0;
}
