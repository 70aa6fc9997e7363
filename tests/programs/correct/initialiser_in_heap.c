// bmc: refused
// A thread makes a block with a recursive mutex by its initialiser, and shows it to others afterwards.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    pthread_mutex_t m;
    int value;
};

static _Atomic(struct node *) shown;

static void count(struct node *n) {
    pthread_mutex_lock(&n->m);
    pthread_mutex_lock(&n->m);
    n->value++;
    pthread_mutex_unlock(&n->m);
    pthread_mutex_unlock(&n->m);
}

static void *make(void *arg) {
    struct node *n = malloc(sizeof *n);
    *n = (struct node){PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, 0};
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
