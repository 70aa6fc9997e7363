// A sorting network for any numbers, a thread for each comparison of a layer. Broken: the last layer is missing.
#include "task.h"
#ifndef SIZE
#define SIZE 4
#endif
static int numbers[SIZE];

static void *compare(void *arg) {
    long at = (long)arg;
    if (numbers[at] > numbers[at + 1]) {
        int number = numbers[at];
        numbers[at] = numbers[at + 1];
        numbers[at + 1] = number;
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < SIZE; i++) {
        numbers[i] = __VERIFIER_nondet_int();
        __VERIFIER_assume(0 <= numbers[i] && numbers[i] < 100);
    }
    for (int layer = 0; layer < SIZE - BROKEN; layer++) {
        pthread_t threads[SIZE];
        int count = 0;
        for (long at = layer % 2; at + 1 < SIZE; at += 2)
            pthread_create(&threads[count++], 0, compare, (void *)at);
        for (int i = 0; i < count; i++)
            pthread_join(threads[i], 0);
    }
    for (int i = 0; i + 1 < SIZE; i++)
        CLAIM(numbers[i] <= numbers[i + 1]);
    return 0;
}
