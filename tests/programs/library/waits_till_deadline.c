// Waits that are given up are given up late enough: each loop goes on until its deadline has passed, and then ends.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static int ready;

static void *set(void *arg) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

static int before(struct timespec *end) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec < end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec <= end->tv_nsec);
}

int main(void) {
    pthread_t t;
    struct timespec end;
    sem_init(&s, 0, 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 1;
    while (before(&end))
        assert(sem_timedwait(&s, &end) == -1 && errno == ETIMEDOUT);
    end.tv_sec += 100;
    pthread_create(&t, 0, set, 0);
    pthread_mutex_lock(&m);
    while (!ready && before(&end))
        pthread_cond_timedwait(&c, &m, &end);
    assert(ready || !before(&end));
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
