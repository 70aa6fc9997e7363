// A relaxed flag does not order the data behind it.
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int flag;

static void *send(void *arg) {
    (void)arg;
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t t;
    int result = 0;
    pthread_create(&t, 0, send, 0);
    if (atomic_load_explicit(&flag, memory_order_relaxed))
        result = data;
    pthread_join(t, 0);
    return result;
}
