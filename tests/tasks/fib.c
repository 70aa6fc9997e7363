// Two threads add each other's number to their own. Broken: the largest numbers that can be come to are taken for impossible.
#include "task.h"
#ifndef ROUNDS
#define ROUNDS 5
#endif
static int i = 1, j = 1;

static void *add_to_i(void *arg) {
    for (int round = 0; round < ROUNDS; round++) {
        __VERIFIER_atomic_begin();
        i += j;
        __VERIFIER_atomic_end();
    }
    return arg;
}

static void *add_to_j(void *arg) {
    for (int round = 0; round < ROUNDS; round++) {
        __VERIFIER_atomic_begin();
        j += i;
        __VERIFIER_atomic_end();
    }
    return arg;
}

static int fibonacci(int n) {
    int last = 0, now = 1;
    while (n-- > 1) {
        int next = last + now;
        last = now;
        now = next;
    }
    return now;
}

int main(void) {
    int most = fibonacci(2 * ROUNDS + 2) - BROKEN;
    pthread_t one, other;
    pthread_create(&one, 0, add_to_i, 0);
    pthread_create(&other, 0, add_to_j, 0);
    __VERIFIER_atomic_begin();
    _Bool is_fine = i <= most && j <= most;
    __VERIFIER_atomic_end();
    CLAIM(is_fine);
    return 0;
}
