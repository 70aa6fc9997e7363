// engines: dpor
// bmc: endless
// Two threads take two mutexes in different orders. Whoever does not get the second one gives the first one back and begins again, so there is
// no deadlock; rounds that fail come to nothing.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
int meals;

static void take_both(pthread_mutex_t *first, pthread_mutex_t *second) {
    for (;;) {
        pthread_mutex_lock(first);
        if (pthread_mutex_trylock(second) == 0)
            return;
        pthread_mutex_unlock(first);
    }
}

static void eat(void) {
    meals++;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
}

void *other(void *arg) {
    take_both(&right, &left);
    eat();
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    take_both(&left, &right);
    eat();
    pthread_join(thread, 0);
    assert(meals == 2);
}
