// A queue that counts its items, and a count that is read without the lock. One item is enough to show it, and whoever takes
// items out is not needed, although all use the lock one after the other.
#include <pthread.h>
#include <stdlib.h>

#define ITEMS 2

struct item { int value; struct item *next; };
struct { pthread_mutex_t lock; struct item *first; int count; } queue = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };

void *put(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        struct item *item = malloc(sizeof *item);
        item->value = i;
        pthread_mutex_lock(&queue.lock);
        item->next = queue.first;
        queue.first = item;
        queue.count++;
        pthread_mutex_unlock(&queue.lock);
    }
    return 0;
}

void *take(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&queue.lock);
        struct item *item = queue.first;
        if (item)
            queue.first = item->next;
        pthread_mutex_unlock(&queue.lock);
        free(item);
    }
    return 0;
}

int main(void)
{
    pthread_t putter, taker;
    pthread_create(&taker, 0, take, 0);
    pthread_create(&putter, 0, put, 0);
    int count = queue.count;
    pthread_join(putter, 0);
    pthread_join(taker, 0);
    return count > ITEMS;
}
