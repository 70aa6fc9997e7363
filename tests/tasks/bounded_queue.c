// Two producers and two consumers that try again and again. Broken: there is room for one more than there is.
#include "task.h"
#ifndef ROUNDS
#define ROUNDS 4
#endif
enum { ROOM = 2, EACH = 2 };
static int items[ROOM], head, tail, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Bool put(int item) {
    pthread_mutex_lock(&lock);
    _Bool has_room = count < ROOM + BROKEN;
    if (has_room) {
        items[tail] = item;
        tail = (tail + 1) % ROOM;
        count++;
    }
    pthread_mutex_unlock(&lock);
    return has_room;
}

static _Bool get(int *item) {
    pthread_mutex_lock(&lock);
    _Bool has_item = count > 0;
    if (has_item) {
        *item = items[head];
        head = (head + 1) % ROOM;
        count--;
    }
    pthread_mutex_unlock(&lock);
    return has_item;
}

static void *produce(void *arg) {
    for (int i = 0; i < ROUNDS; i++)
        while (!put((int)(long)arg * ROUNDS + i)) {
        }
    return arg;
}

static void *consume(void *arg) {
    int last[EACH] = {-1, -1};
    for (int i = 0; i < ROUNDS; i++) {
        int item;
        while (!get(&item)) {
        }
        CLAIM(item % ROUNDS > last[item / ROUNDS]);
        last[item / ROUNDS] = item % ROUNDS;
    }
    return arg;
}

int main(void) {
    pthread_t threads[2 * EACH];
    for (long i = 0; i < 2 * EACH; i++)
        pthread_create(&threads[i], 0, i < EACH ? produce : consume, (void *)i);
    for (int i = 0; i < 2 * EACH; i++)
        pthread_join(threads[i], 0);
    CLAIM(count == 0);
    return 0;
}
