// What is printed and averaged depends on who comes first, but is one of a few things.
// raddle: --check assert
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int level;

static void *raise(void *arg) {
    (void)arg;
    level = 1;
    level = 30;
    return 0;
}

static int sum(int count, ...) {
    va_list list;
    int total = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        total += va_arg(list, int);
    va_end(list);
    return total;
}

int main(void) {
    pthread_t t;
    char text[16];
    pthread_create(&t, 0, raise, 0);
    int seen = level;
    pthread_join(t, 0);
    snprintf(text, sizeof text, "<%d>", seen);
    assert(strlen(text) == (seen < 10 ? 3 : 4));
    assert(atoi(text + 1) == seen);
    double average = (seen + level) / 2.0;
    assert(average == 15.0 || average == 15.5 || average == 30.0);
    assert(sum(3, seen, level, 1) != 32);
    return 0;
}
