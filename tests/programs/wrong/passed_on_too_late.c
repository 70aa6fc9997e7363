// raddle: --engine states --check assert,memory
// engines: states
// The box is written by a thread that nobody waits for but `main`: who has joined it comes behind it, the other thread does not.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int box;

static void *give(void *arg) {
    box = 1;
    return arg;
}

static void *use(void *arg) {
    pthread_mutex_lock(&mutex);
    box = 2;
    int found = box;
    pthread_mutex_unlock(&mutex);
    assert(found == 2);
    return arg;
}

int main(void) {
    pthread_t giver, user;
    pthread_create(&giver, 0, give, 0);
    pthread_create(&user, 0, use, 0);
    pthread_join(giver, 0);
    box = 3;
    pthread_join(user, 0);
    return 0;
}
