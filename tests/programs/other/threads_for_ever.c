// raddle: --threads 3 --engine rf
// A server that starts a thread for each request, for ever. Whatever they do to what they share is under a mutex.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int inside, served;

static void *serve(void *request) {
    pthread_mutex_lock(&mutex);
    inside++;
    assert(inside == 1);
    served++;
    inside--;
    pthread_mutex_unlock(&mutex);
    return request;
}

int main(void) {
    while (1) {
        pthread_t thread;
        pthread_create(&thread, 0, serve, 0);
    }
}
