// A detached thread shows its thread-local variable to others, and does not wait until they are done with it.
#include <pthread.h>
#include <stdatomic.h>

static _Thread_local atomic_int mine;
static atomic_int *_Atomic shown;

static void *work(void *arg) {
    (void)arg;
    pthread_detach(pthread_self());
    shown = &mine;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    atomic_int *count = shown;
    if (count)
        ++*count;
    return 0;
}
