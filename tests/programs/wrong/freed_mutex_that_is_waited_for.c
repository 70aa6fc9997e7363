// engines: naive, dpor, rf, rvf, mcr
// A mutex is freed by its holder while another thread waits for it.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *arg) {
    pthread_mutex_lock(arg);
    pthread_mutex_unlock(arg);
    return 0;
}

int main(void) {
    pthread_mutex_t *mutex = malloc(sizeof *mutex);
    pthread_mutex_init(mutex, 0);
    pthread_mutex_lock(mutex);
    pthread_t thread;
    pthread_create(&thread, 0, work, mutex);
    free(mutex);
    pthread_join(thread, 0);
    return 0;
}
