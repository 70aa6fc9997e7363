// Destructors of thread-specific data run at the end of the thread, again if they leave values, not for `main`.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t first, second, deleted;
static int destroyed, rounds;

static void destroy(void *value) {
    assert(pthread_getspecific(first) == 0);
    destroyed++;
    free(value);
}

static void again(void *value) {
    rounds++;
    // Set for ever: the library gives up after a few rounds.
    pthread_setspecific(second, value);
}

static void never(void *value) {
    (void)value;
    assert(!"the key is gone");
}

static void *work(void *arg) {
    pthread_setspecific(first, malloc(4));
    pthread_setspecific(second, arg);
    pthread_setspecific(deleted, arg);
    pthread_key_delete(deleted);
    if (arg)
        pthread_exit(0);
    return 0;
}

int main(void) {
    pthread_t t;
    assert(pthread_key_create(&first, destroy) == 0);
    assert(pthread_key_create(&second, again) == 0);
    assert(pthread_key_create(&deleted, never) == 0);
    assert(first != second);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    assert(destroyed == 1 && rounds == 0);
    pthread_create(&t, 0, work, &t);
    pthread_join(t, 0);
    assert(destroyed == 2 && rounds == 4);
    int *mine = malloc(4);
    pthread_setspecific(first, mine);
    free(mine);
    return 0;
}
