// To return from `main` ends the process, and until then its thread-local variables are there.
#include <pthread.h>
#include <stdlib.h>

static _Thread_local int mine = 5;
static pthread_t thread;

static void *work(void *arg) {
    ++*(int *)arg;
    return 0;
}

int main(void) {
    pthread_create(&thread, 0, work, &mine);
    return 0;
}
