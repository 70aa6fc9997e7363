// engines: naive, dpor, rf, rvf, mcr
// A condition variable and its mutex are freed by the one who signalled, while the other still needs both.
#include <pthread.h>
#include <stdlib.h>

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    int is_open;
};

static void *work(void *arg) {
    struct gate *gate = arg;
    pthread_mutex_lock(&gate->mutex);
    while (!gate->is_open)
        pthread_cond_wait(&gate->opened, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return 0;
}

int main(void) {
    struct gate *gate = calloc(1, sizeof *gate);
    pthread_t thread;
    pthread_create(&thread, 0, work, gate);
    pthread_mutex_lock(&gate->mutex);
    gate->is_open = 1;
    pthread_cond_signal(&gate->opened);
    pthread_mutex_unlock(&gate->mutex);
    free(gate);
    pthread_join(thread, 0);
    return 0;
}
