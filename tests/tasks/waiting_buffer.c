// Two producers and two consumers that wait for each other. Broken: a consumer that was woken does not look again.
#include "task.h"
#ifndef ROUNDS
#define ROUNDS 3
#endif
enum { ROOM = 2, EACH = 2 };
static int items[ROOM], in, out, count, total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;

static void *produce(void *arg) {
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (count == ROOM)
            pthread_cond_wait(&not_full, &lock);
        items[in] = i;
        in = (in + 1) % ROOM;
        count++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *consume(void *arg) {
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0) {
            pthread_cond_wait(&not_empty, &lock);
            if (BROKEN)
                break;
        }
        CLAIM(count > 0);
        total += items[out];
        out = (out + 1) % ROOM;
        count--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t threads[2 * EACH];
    for (int i = 0; i < 2 * EACH; i++)
        pthread_create(&threads[i], 0, i < EACH ? produce : consume, 0);
    for (int i = 0; i < 2 * EACH; i++)
        pthread_join(threads[i], 0);
    CLAIM(total == EACH * ROUNDS * (ROUNDS + 1) / 2);
    return 0;
}
