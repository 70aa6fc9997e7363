// A block is cleared, its mutex made, and shown to others: its bytes are written by a thread that is not alone, and that is no matter.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct node {
    pthread_mutex_t m;
    int value;
};

static _Atomic(struct node *) shown;

static void count(struct node *n) {
    pthread_mutex_lock(&n->m);
    n->value++;
    pthread_mutex_unlock(&n->m);
}

static void *make(void *arg) {
    struct node *n = malloc(sizeof *n);
    memset(n, 0, sizeof *n);
    pthread_mutex_init(&n->m, 0);
    shown = n;
    count(n);
    return arg;
}

static void *use(void *arg) {
    struct node *n = shown;
    if (n)
        count(n);
    return arg;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, make, 0);
    pthread_create(&u, 0, use, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
