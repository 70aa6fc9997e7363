// The index leads to the bytes that say which kind of mutex it is, while another thread uses it.
#include <pthread.h>
#include <stdatomic.h>

static struct {
    int items[2];
    pthread_mutex_t m;
    atomic_int tail;
} q = {.m = PTHREAD_MUTEX_INITIALIZER};

static void *use(void *arg) {
    pthread_mutex_lock(&q.m);
    pthread_mutex_unlock(&q.m);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, use, 0);
    q.tail = q.tail + 6;
    q.items[q.tail] = 1;
    pthread_join(thread, 0);
}
