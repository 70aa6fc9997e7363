// One branch cannot be run, another one fails: that is the answer.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void unknown(int);

static atomic_int x;

static void *reader(void *arg) {
    int seen = x;
    if (seen == 0)
        unknown(0);
    if (seen == 2)
        unknown(2);
    assert(seen != 1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    x = 1;
    x = 2;
    pthread_join(thread, 0);
    return 0;
}
