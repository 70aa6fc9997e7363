// The block moves while the other thread reads it.
// raddle: --check memory
#include <pthread.h>
#include <stdlib.h>

static int *numbers;

static void *look(void *arg) {
    return numbers[0] ? arg : 0;
}

int main(void) {
    pthread_t t;
    numbers = calloc(2, sizeof *numbers);
    numbers[1] = 7;
    pthread_create(&t, 0, look, 0);
    int *more = realloc(numbers, 4 * sizeof *numbers);
    if (more[1] != 7)
        abort();
    numbers = more;
    pthread_join(t, 0);
    free(numbers);
    return 0;
}
