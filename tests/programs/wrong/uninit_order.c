// No race: a mutex protects the flag. But whoever asks may come before whoever writes it.
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct job {
    pthread_mutex_t mutex;
    bool done;
};

static struct job *job;

static void *finish(void *arg) {
    (void)arg;
    pthread_mutex_lock(&job->mutex);
    job->done = true;
    pthread_mutex_unlock(&job->mutex);
    return 0;
}

int main(void) {
    pthread_t t;
    job = malloc(sizeof *job);
    pthread_mutex_init(&job->mutex, 0);
    pthread_create(&t, 0, finish, 0);
    pthread_mutex_lock(&job->mutex);
    int result = job->done ? 0 : 1;
    pthread_mutex_unlock(&job->mutex);
    pthread_join(t, 0);
    return result;
}
