// The queue: a mutex and an array that is indexed by what others write lie in one object. Nothing is written beyond the array.
#include <pthread.h>
#include <stdatomic.h>

struct {
    pthread_mutex_t m;
    atomic_int h, t;
    long a[2];
} q = {PTHREAD_MUTEX_INITIALIZER};

static void *f(void *x) {
    pthread_mutex_lock(&q.m);
    q.h = 0;
    pthread_mutex_unlock(&q.m);
    return x;
}

int main(void) {
    pthread_t s;
    pthread_create(&s, 0, f, 0);
    pthread_create(&s, 0, f, 0);
    q.t = q.t + 1;
    q.a[q.t] = 1;
}
