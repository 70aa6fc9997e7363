// A thread that waits for a flag no longer than a while may give up before it is set.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int flag;

static void *set(void *arg) {
    flag = 1;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    time_t end = time(0) + 5;
    while (!flag && time(0) < end)
        usleep(1000);
    assert(flag);
    pthread_join(t, 0);
    return 0;
}
