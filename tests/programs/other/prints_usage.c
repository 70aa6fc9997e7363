// Without arguments nothing is checked that matters: the answer says so.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int counter;

static void *worker(void *arg) {
    counter++;
    assert(counter <= 2);
    return arg;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        printf("usage: %s N\n", argv[0]);
        return 0;
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(counter == 2);
    return 0;
}
