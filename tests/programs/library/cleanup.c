// Cleanup handlers, left by the usual way.
#include <assert.h>
#include <pthread.h>

static int cleaned;

static void clean(void *arg) { cleaned += *(int *)arg; }

static void *work(void *arg) {
    int one = 1;
    pthread_cleanup_push(clean, &one);
    pthread_testcancel();
    pthread_cleanup_pop(1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    assert(cleaned == 1);
    return 0;
}
