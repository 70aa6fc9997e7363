// Only races are looked for. There is one, also where the thread then waits without its mutex, which lets nobody in.
// raddle: --check race
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int ready;

void *wait_for_it(void *arg) {
    while (!ready) {
        pthread_cond_wait(&condition, &mutex);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, wait_for_it, 0);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}
