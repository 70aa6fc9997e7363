// Assembly that keeps compilers from guessing a value, and a full fence as older code writes it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int a, b;

static int hidden(int value) {
    __asm__ volatile("" : "+r"(value));
    return value;
}

static void *left(void *arg) {
    atomic_store_explicit(&x, hidden(1), memory_order_relaxed);
    __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc");
    a = atomic_load_explicit(&y, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, left, 0);
    atomic_store_explicit(&y, hidden(1), memory_order_relaxed);
    __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc");
    b = atomic_load_explicit(&x, memory_order_relaxed);
    pthread_join(thread, 0);
    assert(a + b > 0);
    return 0;
}
