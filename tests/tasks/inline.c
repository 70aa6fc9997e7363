// Functions that are `inline` and nothing else, as older C has them. Broken: the order of the two threads is taken for known.
#include "task.h"
inline int next(int x) { return x + 1; }
extern inline int twice(int x) { return x + x; }
static int value = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *arg) {
    pthread_mutex_lock(&lock);
    value = next(value);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *multiply(void *arg) {
    pthread_mutex_lock(&lock);
    value = twice(value);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, add, 0);
    pthread_create(&other, 0, multiply, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    CLAIM(value == 4 || (!BROKEN && value == 3));
    return 0;
}
