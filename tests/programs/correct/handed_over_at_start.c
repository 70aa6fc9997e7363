// The mutex is held when the thread is started, so its section comes after the first one, and so does all that follows.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ready;

static void *check(void *arg) {
    (void)arg;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    assert(ready == 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_mutex_lock(&mutex);
    pthread_create(&t, 0, check, 0);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    pthread_join(t, 0);
    return 0;
}
