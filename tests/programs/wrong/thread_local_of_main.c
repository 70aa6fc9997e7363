// The main thread leaves by `pthread_exit`, and its thread-local variables with it.
#include <pthread.h>

static _Thread_local int mine = 5;

static void *work(void *arg) {
    ++*(int *)arg;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, &mine);
    pthread_exit(0);
}
