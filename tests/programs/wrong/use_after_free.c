// The owner frees the block while the worker may still read it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct job {
    atomic_int size, state;
};

static void *work(void *arg) {
    struct job *job = arg;
    return atomic_load(&job->state) ? job : 0;
}

int main(void) {
    pthread_t t;
    struct job *job = malloc(sizeof *job);
    atomic_init(&job->state, 1);
    pthread_create(&t, 0, work, job);
    free(job);
    pthread_join(t, 0);
    return 0;
}
