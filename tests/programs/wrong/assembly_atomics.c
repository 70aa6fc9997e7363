// bmc: refused
// Two atomic additions are not one: somebody else adds in between.
#include <assert.h>
#include <pthread.h>

static int total;

static int fetch_add(int *p, int v) {
    __asm__ volatile("lock; xaddl %0, %1" : "+r"(v), "+m"(*p) : : "memory");
    return v;
}

static void *work(void *arg) {
    int seen = fetch_add(&total, 0);
    fetch_add(&total, 1);
    assert(fetch_add(&total, 0) == seen + 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
