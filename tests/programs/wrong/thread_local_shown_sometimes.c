// A thread-local variable is shown to others by some executions only.
#include <pthread.h>
#include <stdatomic.h>

static _Thread_local int mine = 5;
static atomic_int wanted;
static int *_Atomic shown;

static void *work(void *arg) {
    (void)arg;
    if (wanted)
        shown = &mine;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    wanted = 1;
    pthread_join(thread, 0);
    int *found = shown;
    if (found)
        *found = 1;
    return 0;
}
