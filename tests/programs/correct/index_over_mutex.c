// As far as types go, the index may lead to the bytes of the mutex.
#include <pthread.h>
#include <stdatomic.h>

static struct {
    pthread_mutex_t m;
    atomic_int head, tail;
    long items[2];
} q = {PTHREAD_MUTEX_INITIALIZER};

static void *reset(void *arg) {
    pthread_mutex_lock(&q.m);
    q.head = 0;
    pthread_mutex_unlock(&q.m);
    return arg;
}

int main(void) {
    pthread_t s;
    pthread_create(&s, 0, reset, 0);
    pthread_create(&s, 0, reset, 0);
    q.tail = q.tail + 1;
    q.items[q.tail] = 1;
    return 0;
}
