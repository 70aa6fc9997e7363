// Functions that are inline here, and whose external definitions would be somewhere else: their bodies are in this file.
#include <assert.h>
#include <pthread.h>

static int x;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

inline void add(int number) { x += number; }

extern inline __attribute__((gnu_inline)) int twice(int number) { return 2 * number; }

static void *work(void *arg) {
    pthread_mutex_lock(&mutex);
    add(twice(1));
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    assert(x == 4);
    return 0;
}
