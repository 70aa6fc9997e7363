// Counting, trying and asking.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t s;

static void *work(void *arg) {
    sem_wait(&s);
    errno = 3;
    return arg;
}

int main(void) {
    pthread_t t;
    int value;
    assert(sem_init(&s, 0, 2) == 0);
    assert(sem_trywait(&s) == 0 && sem_trywait(&s) == 0);
    assert(sem_trywait(&s) == -1 && errno == EAGAIN);
    assert(sem_getvalue(&s, &value) == 0 && value == 0);
    pthread_create(&t, 0, work, 0);
    sem_post(&s);
    pthread_join(t, 0);
    assert(errno == EAGAIN);
    assert(sem_getvalue(&s, &value) == 0 && value == 0);
    assert(sem_destroy(&s) == 0);
    return 0;
}
