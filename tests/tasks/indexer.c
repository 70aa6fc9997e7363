// Threads put numbers into a table with a mutex for each place. Broken: what only happens with more than eleven threads is taken for impossible.
#include "task.h"
#ifndef THREADS
#define THREADS 13
#endif
enum { SIZE = 128, EACH = 4 };
static int table[SIZE];
static pthread_mutex_t locks[SIZE];

static _Bool put(int at, int value) {
    pthread_mutex_lock(&locks[at]);
    _Bool is_free = table[at] == 0;
    if (is_free)
        table[at] = value;
    pthread_mutex_unlock(&locks[at]);
    return is_free;
}

static void *put_each(void *arg) {
    int id = *(int *)arg;
    for (int k = 1; k <= EACH; k++) {
        int value = k * 11 + id;
        int at = value * 7 % SIZE;
        while (!put(at, value)) {
            CLAIM(!BROKEN);
            at = (at + 1) % SIZE;
        }
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    int ids[THREADS];
    for (int i = 0; i < SIZE; i++)
        pthread_mutex_init(&locks[i], 0);
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        pthread_create(&threads[i], 0, put_each, &ids[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
