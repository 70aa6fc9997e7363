// The lock is made when the other thread may hold it already.
#include <pthread.h>

pthread_rwlock_t lock;
int value;

void *reader(void *arg) {
    pthread_rwlock_rdlock(&lock);
    int seen = value;
    (void)seen;
    pthread_rwlock_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    pthread_rwlock_init(&lock, 0);
    pthread_join(thread, 0);
    return 0;
}
