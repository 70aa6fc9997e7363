// Which mutex a thread takes depends on what it reads: two that take different ones are not kept apart.
// raddle: --check assert,memory
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int turn;
static int inside;

static void *work(void *arg) {
    (void)arg;
    pthread_mutex_t *mine = &locks[turn++ & 1];
    pthread_mutex_lock(mine);
    inside++;
    assert(inside == 1);
    inside--;
    pthread_mutex_unlock(mine);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    return 0;
}
