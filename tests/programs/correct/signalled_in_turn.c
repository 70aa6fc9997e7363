// The first signal is for the first waiter, even if that goes on only after the second one has come: nobody waits for good.
#include <pthread.h>

void __VERIFIER_assume(int condition);

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int first_waits, second_waits, signalled;

void *first(void *arg) {
    pthread_mutex_lock(&mutex);
    first_waits = 1;
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

void *second(void *arg) {
    pthread_mutex_lock(&mutex);
    __VERIFIER_assume(signalled);
    second_waits = 1;
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_mutex_lock(&mutex);
    __VERIFIER_assume(first_waits);
    pthread_cond_signal(&condition);
    signalled = 1;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    __VERIFIER_assume(second_waits);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
