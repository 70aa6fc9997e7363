// A thread ends with the lock held. That another thread stops at an assumption is no help to those who wait.
#include <pthread.h>

void __VERIFIER_assume(int condition);

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int value;

void *keep(void *arg) {
    pthread_rwlock_rdlock(&lock);
    return 0;
}

void *stop(void *arg) {
    __VERIFIER_assume(0);
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, keep, 0);
    pthread_create(&second, 0, stop, 0);
    pthread_rwlock_wrlock(&lock);
    value = 1;
    pthread_rwlock_unlock(&lock);
    pthread_join(first, 0);
    return 0;
}
