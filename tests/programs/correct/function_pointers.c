// Threads and tables of functions: calls through pointers.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int total;

static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static int (*const table[])(int) = {twice, square};

static void *apply(void *arg) {
    int (*const *f)(int) = arg;
    atomic_fetch_add(&total, (*f)(3));
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, apply, (void *)&table[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(total == 15);
    return 0;
}
