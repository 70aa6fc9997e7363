// bmc: refused
// engines: dpor, rf, rvf, mcr
// Atomics as old code for x86 has them, in inline assembly.
#include <assert.h>
#include <pthread.h>

static int total, turns;
static volatile int locked, state;

static int fetch_add(int *p, int v) {
    __asm__ volatile("lock; xaddl %0, %1" : "+r"(v), "+m"(*p) : : "memory");
    return v;
}

static int exchange(volatile int *p, int v) {
    __asm__ volatile("xchgl %0, %1" : "+r"(v), "+m"(*p) : : "memory");
    return v;
}

static int compare_exchange(volatile int *p, int old, int new) {
    int found;
    __asm__ volatile("lock; cmpxchgl %2, %1" : "=a"(found), "+m"(*p) : "r"(new), "0"(old) : "memory");
    return found;
}

static unsigned char compare_and_set(volatile int *p, int old, int new) {
    unsigned char done;
    __asm__ volatile("lock cmpxchgl %2, %1\n\tsete %0" : "=q"(done), "+m"(*p) : "r"(new), "a"(old) : "memory");
    return done;
}

static void *work(void *arg) {
    while (exchange(&locked, 1))
        __asm__ volatile("pause");
    turns++;
    exchange(&locked, 0);
    fetch_add(&total, 2);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(turns == 2 && fetch_add(&total, 1) == 4);
    assert(compare_exchange(&state, 0, 5) == 0 && compare_exchange(&state, 0, 6) == 5);
    assert(compare_and_set(&state, 5, 7) && !compare_and_set(&state, 5, 8) && state == 7);
}
