// Readers and writers with a monitor. Broken: writers do not wait for readers.
#include "task.h"
#ifndef ROUNDS
#define ROUNDS 2
#endif
enum { READERS = 2, WRITERS = 2 };
static int readers, writers, waiting, one, other;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *read_both(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (writers || waiting)
            pthread_cond_wait(&changed, &lock);
        readers++;
        pthread_mutex_unlock(&lock);
        CLAIM(one == other);
        pthread_mutex_lock(&lock);
        if (--readers == 0)
            pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *write_both(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        waiting++;
        while (writers || (!BROKEN && readers))
            pthread_cond_wait(&changed, &lock);
        waiting--;
        writers = 1;
        pthread_mutex_unlock(&lock);
        one++;
        other++;
        pthread_mutex_lock(&lock);
        writers = 0;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t threads[READERS + WRITERS];
    for (int i = 0; i < READERS + WRITERS; i++)
        pthread_create(&threads[i], 0, i < READERS ? read_both : write_both, 0);
    for (int i = 0; i < READERS + WRITERS; i++)
        pthread_join(threads[i], 0);
    CLAIM(one == WRITERS * ROUNDS && other == one);
    return 0;
}
