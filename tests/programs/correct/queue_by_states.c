// raddle: --engine states --check assert,memory
// engines: states
// Two threads put four items each into a queue, two take them. 63 million orders of critical sections, and a few thousand states.
#include <assert.h>
#include <pthread.h>

enum { ROUNDS = 4, ROOM = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int items[ROOM], head, tail, count;
static int seen[2 * ROUNDS + 1];

static void *put(void *arg) {
    int first = (int)(long)arg * ROUNDS + 1;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        if (count < ROOM) {
            items[tail] = first + i;
            tail = (tail + 1) % ROOM;
            count++;
        }
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}

static void *take(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        if (count > 0) {
            int item = items[head];
            head = (head + 1) % ROOM;
            count--;
            assert(item != 0 && !seen[item]);
            seen[item] = 1;
        }
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, put, (void *)i);
        pthread_create(&threads[2 + i], 0, take, 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
