// A consumer keeps a copy of the producer's index, and looks at the index itself only when the copy says that there is nothing. The copy lies in
// memory that no other thread accesses: storing there what is there already is no effect, so the loops only wait.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct queue {
    atomic_int written, taken;
    int cached_written, cached_taken; // the consumer's, the producer's
    int items[2];
};

static void *producer(void *arg) {
    struct queue *q = arg;
    for (int i = 0; i < 2; i++) {
        while (i - q->cached_taken == 1)
            q->cached_taken = atomic_load(&q->taken);
        q->items[i % 2] = i + 1;
        atomic_store(&q->written, i + 1);
    }
    return 0;
}

int main(void) {
    struct queue *q = calloc(1, sizeof *q);
    pthread_t p;
    pthread_create(&p, 0, producer, q);
    for (int i = 0; i < 2; i++) {
        while (q->cached_written == i)
            q->cached_written = atomic_load(&q->written);
        assert(q->items[i % 2] == i + 1);
        atomic_store(&q->taken, i + 1);
    }
    pthread_join(p, 0);
    assert(q->cached_taken <= 2);
    free(q);
}
