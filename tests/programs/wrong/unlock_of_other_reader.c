// The lock that one thread took for reading is given back by another one.
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

void *give_back(void *arg) {
    pthread_rwlock_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_rwlock_rdlock(&lock);
    pthread_create(&thread, 0, give_back, 0);
    pthread_join(thread, 0);
    return 0;
}
