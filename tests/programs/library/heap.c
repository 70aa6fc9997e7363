// Every member of the malloc family.
#include <assert.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *a = malloc(10), *b = calloc(3, 4), *c = aligned_alloc(64, 128);
    void *d = 0;
    assert(a && b && c && b[11] == 0 && (uintptr_t)c % 64 == 0);
    assert(posix_memalign(&d, 256, 10) == 0 && (uintptr_t)d % 256 == 0);
    assert(posix_memalign(&d, 3, 10) != 0);
    strcpy(a, "raddle");
    a = realloc(a, 100);
    assert(strcmp(a, "raddle") == 0);
    a = realloc(a, 3);
    assert(memcmp(a, "rad", 3) == 0);
    a = reallocarray(a, 10, 10);
    assert(memcmp(a, "rad", 3) == 0 && malloc_usable_size(a) >= 100);
    char *e = realloc(0, 8);
    assert(e && e != a);
    assert(!reallocarray(0, SIZE_MAX, 2));
    free(a);
    free(b);
    free(c);
    free(d);
    free(e);
    free(0);
    return 0;
}
