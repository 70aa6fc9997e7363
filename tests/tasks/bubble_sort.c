// Two threads sort the same numbers. Broken: the last one is never looked at.
#include "task.h"
#ifndef SIZE
#define SIZE 6
#endif
static int numbers[SIZE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sort(void *arg) {
    for (int i = 0; i < SIZE - 1; i++)
        for (int j = 0; j < SIZE - 1 - i - BROKEN; j++) {
            pthread_mutex_lock(&lock);
            if (numbers[j] > numbers[j + 1]) {
                int number = numbers[j];
                numbers[j] = numbers[j + 1];
                numbers[j + 1] = number;
            }
            pthread_mutex_unlock(&lock);
        }
    return arg;
}

int main(void) {
    pthread_t one, other;
    for (int i = 0; i < SIZE; i++)
        numbers[i] = SIZE - i;
    pthread_create(&one, 0, sort, 0);
    pthread_create(&other, 0, sort, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    for (int i = 0; i + 1 < SIZE; i++)
        CLAIM(numbers[i] <= numbers[i + 1]);
    return 0;
}
