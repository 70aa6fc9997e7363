// Counters of older code: updates with a lock prefix.
#include <assert.h>
#include <pthread.h>

static int counter, freed;

static void get(int *at) { __asm__ volatile("lock; incl %0" : "+m"(*at) : : "memory"); }

static int put(int *at) {
    unsigned char last;
    __asm__ volatile("lock; decl %0; sete %1" : "+m"(*at), "=m"(last) : : "memory");
    return last;
}

static void *user(void *arg) {
    if (put(&counter))
        freed++;
    return arg;
}

int main(void) {
    pthread_t thread;
    get(&counter);
    get(&counter);
    pthread_create(&thread, 0, user, 0);
    if (put(&counter))
        freed++;
    pthread_join(thread, 0);
    assert(freed == 1);
    return 0;
}
