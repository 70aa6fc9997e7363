// What a thread makes first is a variable on its stack, or a block of the same size on the heap.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int a;
static int *_Atomic shared;
static void *writer(void *p) { a = 1; return p; }
static void on_stack(void) { int local[4] = {1}; shared = local; shared = NULL; }
static void on_heap(void) { int *block = malloc(16); block[3] = 1; shared = block; shared = NULL; free(block); }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    if (a) on_stack(); else on_heap();
    pthread_join(t, 0);
    return 0;
}
