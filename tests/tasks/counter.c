// Many threads count. Broken: they look at the counter before they take the lock.
#include "task.h"
#ifndef THREADS
#define THREADS 10
#endif
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *arg) {
    int before = count;
    pthread_mutex_lock(&lock);
    count = (BROKEN ? before : count) + 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    CLAIM(count == THREADS);
    return 0;
}
