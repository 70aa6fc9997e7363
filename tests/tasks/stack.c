// A stack of any values. Broken: in its second round a thread takes from it without looking.
#include "task.h"
#ifndef SIZE
#define SIZE 400
#endif
static int top;
static unsigned values[SIZE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *push(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        CLAIM(top < SIZE);
        values[top++] = __VERIFIER_nondet_uint() % SIZE;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *pop(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        if (top > 0 || (BROKEN && i == 1)) {
            CLAIM(top > 0);
            top--;
        }
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, push, 0);
    pthread_create(&other, 0, pop, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
