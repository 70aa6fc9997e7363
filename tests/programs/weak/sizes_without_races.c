// raddle: --engine graph --check memory,assert
// engines: graph
// Bytes that are cleared eight at a time and read four at a time, with races left out.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct node {
    long before[2];
    int a, b;
};

static _Atomic(struct node *) shown;

static void *make(void *arg) {
    struct node *n = malloc(sizeof *n);
    memset(n, 0, sizeof *n);
    shown = n;
    assert(n->a == 0);
    return arg;
}

static void *look(void *arg) {
    struct node *n = shown;
    if (n)
        assert(n->b == 0);
    return arg;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, make, 0);
    pthread_create(&u, 0, look, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
