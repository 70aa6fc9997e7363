// A queue of any values, one thread at each end. Broken: the consumer takes its rounds for the number of what it has taken.
#include "task.h"
#ifndef SIZE
#define SIZE 400
#endif
static int element[SIZE], stored[SIZE], head, tail;
static _Bool may_enqueue = 1, may_dequeue;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *enqueue(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        if (may_enqueue) {
            int value = __VERIFIER_nondet_int();
            stored[BROKEN ? i : tail] = value;
            element[tail++] = value;
            may_enqueue = 0;
            may_dequeue = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *dequeue(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        if (may_dequeue) {
            CLAIM(element[head] == stored[BROKEN ? i : head]);
            head++;
            may_dequeue = 0;
            may_enqueue = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t producer, consumer;
    pthread_create(&producer, 0, enqueue, 0);
    pthread_create(&consumer, 0, dequeue, 0);
    pthread_join(producer, 0);
    pthread_join(consumer, 0);
    return 0;
}
