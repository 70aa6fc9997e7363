// Each thread sets its number to the other one's and one more. Broken: the largest number that can be come to is taken for impossible.
#include "task.h"
#ifndef ROUNDS
#define ROUNDS 20
#endif
static int i = 3, j = 6;

static void *set_i(void *arg) {
    for (int round = 0; round < ROUNDS; round++) {
        __VERIFIER_atomic_begin();
        i = j + 1;
        __VERIFIER_atomic_end();
    }
    return arg;
}

static void *set_j(void *arg) {
    for (int round = 0; round < ROUNDS; round++) {
        __VERIFIER_atomic_begin();
        j = i + 1;
        __VERIFIER_atomic_end();
    }
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, set_i, 0);
    pthread_create(&other, 0, set_j, 0);
    __VERIFIER_atomic_begin();
    int most = i > j ? i : j;
    __VERIFIER_atomic_end();
    CLAIM(most <= 2 * ROUNDS + 6 - BROKEN);
    return 0;
}
