// raddle: --check memory
// The text is freed while it is printed.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;

static void *drop(void *arg) {
    free(text);
    return arg;
}

int main(void) {
    pthread_t t;
    text = strdup("x");
    printf("%d: %s\n", 1, text);
    pthread_create(&t, 0, drop, 0);
    printf("%d: %s\n", 2, text);
    pthread_join(t, 0);
    return 0;
}
