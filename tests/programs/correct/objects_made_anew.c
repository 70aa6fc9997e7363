// Objects are made anew by assignment where nobody else uses them: before, after and between other threads' uses.
#include <pthread.h>
#include <stdlib.h>

struct node {
    pthread_cond_t cond;
    pthread_rwlock_t lock;
};

static void *user(void *arg) {
    struct node *node = arg;
    pthread_rwlock_wrlock(&node->lock);
    pthread_cond_signal(&node->cond);
    pthread_rwlock_unlock(&node->lock);
    return 0;
}

static void *maker(void *arg) {
    struct node *node = malloc(sizeof *node);
    for (int round = 0; round < 2; round++) {
        node->cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        node->lock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
        pthread_t thread;
        pthread_create(&thread, 0, user, node);
        pthread_rwlock_wrlock(&node->lock);
        pthread_rwlock_unlock(&node->lock);
        pthread_join(thread, 0);
    }
    free(node);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, maker, 0);
    pthread_join(thread, 0);
}
