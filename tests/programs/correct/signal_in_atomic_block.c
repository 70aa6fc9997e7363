// An atomic block takes a lock, signals and posts: whoever is woken finds all of it done.
// bmc: refused
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t posted;
static int ready;

static void *tell(void *arg) {
    __VERIFIER_atomic_begin();
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_broadcast(&changed);
    sem_post(&posted);
    pthread_mutex_unlock(&mutex);
    __VERIFIER_atomic_end();
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&posted, 0, 0);
    pthread_create(&thread, 0, tell, 0);
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&changed, &mutex);
    assert(sem_trywait(&posted) == 0);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}
