// A block of any size that two threads fill. Broken: there may be room for one number only.
#include "task.h"
static int *values, length, used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *append(void *arg) {
    int value = __VERIFIER_nondet_int();
    pthread_mutex_lock(&lock);
    if (used < length) {
        values[used] = value;
        CLAIM(values[used] == value);
        used++;
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    length = __VERIFIER_nondet_int();
    if (length <= 0 || length > 1000)
        return 0;
    values = malloc(length * sizeof *values);
    pthread_t one, other;
    pthread_create(&one, 0, append, 0);
    pthread_create(&other, 0, append, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    CLAIM(BROKEN ? used == 2 : used >= 1 && used <= length);
    return 0;
}
