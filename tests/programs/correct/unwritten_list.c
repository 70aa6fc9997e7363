// Nodes from malloc whose pointers are written before anybody follows them; their sizes are not written at all, and any will do.
// raddle: --check assert,memory
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    unsigned size, key;
};
static struct node *head;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *push(void *arg) {
    struct node *node = malloc(sizeof *node);
    node->key = 1;
    pthread_mutex_lock(&mutex);
    node->next = head;
    head = node;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int at = 0; at < 2; at++)
        pthread_create(&threads[at], 0, push, 0);
    unsigned length = 0, large = 0;
    pthread_mutex_lock(&mutex);
    for (struct node *node = head; node; node = node->next) {
        length += node->key;
        large += node->size > 100;
    }
    pthread_mutex_unlock(&mutex);
    assert(length <= 2 && large <= length);
    for (int at = 0; at < 2; at++)
        pthread_join(threads[at], 0);
    assert(head->next != 0);
    return 0;
}
