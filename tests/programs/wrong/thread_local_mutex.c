// A mutex in a thread-local variable is used by another thread, which may still hold it when the first one ends.
#include <pthread.h>
#include <stdatomic.h>

static _Thread_local pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *_Atomic shown;

static void *work(void *arg) {
    (void)arg;
    shown = &mine;
    pthread_mutex_lock(&mine);
    pthread_mutex_unlock(&mine);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_t *mutex = shown;
    if (mutex) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    return 0;
}
