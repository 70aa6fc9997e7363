// engines: dpor, rf
// Three threads that go round a loop which takes a lock of its own, looks, and gives it back. Whether they do so for good takes too many steps to find
// out where nobody lets them out, and is left open there; that another execution fails an assertion is found all the same.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int first, second, done, seen[24];

static void *wait(void *arg) {
    pthread_mutex_t *mine = arg;
    for (int over = 0; !over;) {
        pthread_mutex_lock(mine);
        over = done;
        int sum = 0;
        for (int i = 0; i < 24; i++)
            sum += seen[i];
        assert(sum == 0);
        pthread_mutex_unlock(mine);
    }
    return arg;
}

static void *decide(void *arg) {
    int is_early = !first;
    assert(!is_early || second);
    done = is_early;
    return arg;
}

int main(void) {
    pthread_t t[4];
    pthread_create(&t[0], 0, decide, 0);
    for (int i = 1; i < 4; i++)
        pthread_create(&t[i], 0, wait, &m[i - 1]);
    first = 1;
    second = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    return 0;
}
