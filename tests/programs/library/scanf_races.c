// Two threads read into one variable.
#include <pthread.h>
#include <stdio.h>

static int shared;

static void *work(void *arg) {
    sscanf(arg, "%d", &shared);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, "1");
    work("2");
    pthread_join(t, 0);
}
