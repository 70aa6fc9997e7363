// Nobody does what the loop waits for: it goes round for good.
// engines: dpor, rf
// bmc: inconclusive
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *other(void *arg) {
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    for (;;) {
        pthread_mutex_lock(&mutex);
        int seen = done;
        pthread_mutex_unlock(&mutex);
        if (seen == 2) {
            break;
        }
        sched_yield();
    }
    pthread_join(thread, NULL);
    return 0;
}
