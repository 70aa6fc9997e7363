// Variable arguments and printf.
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static int sum(int count, ...) {
    va_list args;
    int total = 0;
    va_start(args, count);
    for (int i = 0; i < count; i++)
        total += va_arg(args, int);
    va_end(args);
    return total;
}

static void *worker(void *arg) {
    *(int *)arg = sum(3, 1, 2, 3);
    return 0;
}

int main(void) {
    pthread_t t;
    int result = 0;
    pthread_create(&t, 0, worker, &result);
    pthread_join(t, 0);
    printf("sum: %d %s\n", result, "units");
    assert(result == 6);
    return 0;
}
