// The greatest common divisor of any two numbers. Broken: that of ten and fifteen is taken for impossible.
#include "task.h"
#ifndef BELOW
#define BELOW 16
#endif
static unsigned a, b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *lower_a(void *arg) {
    for (_Bool goes_on = 1; goes_on;) {
        pthread_mutex_lock(&lock);
        goes_on = a != b;
        if (a > b)
            a -= b;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *lower_b(void *arg) {
    for (_Bool goes_on = 1; goes_on;) {
        pthread_mutex_lock(&lock);
        goes_on = a != b;
        if (b > a)
            b -= a;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    unsigned x = __VERIFIER_nondet_uint(), y = __VERIFIER_nondet_uint();
    __VERIFIER_assume(x > 0 && y > 0 && x < BELOW && y < BELOW);
    a = x;
    b = y;
    pthread_t one, other;
    pthread_create(&one, 0, lower_a, 0);
    pthread_create(&other, 0, lower_b, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    CLAIM(a == b && x % a == 0 && y % a == 0);
    CLAIM(!BROKEN || a != 5);
    return 0;
}
