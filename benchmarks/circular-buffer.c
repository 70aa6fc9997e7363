// circular-buffer: a producer and a consumer take turns over a ring of SIZE bytes; all accesses are plain, under one lock.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 1; cir_buf of the ordering-consistency paper, table 8.
// N is the number of rounds of each thread. The order of the 2N critical sections is all that can differ: binomial(2N, N).
// SIZE must be above N: the consumer takes a ring that has wrapped around for an empty one.

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#ifndef N
#define N 3
#endif
#ifndef SIZE
#define SIZE 10
#endif
#define ERROR (-1)

static char buffer[SIZE];
static int first;
static int next;
static int buffer_size;
static bool send;
static bool receive;
static int value;
static pthread_mutex_t m;

static int insert(int b) {
    if (next < buffer_size && buffer_size > 0) {
        buffer[next] = (char)b;
        next = (next + 1) % buffer_size;
        assert(next < buffer_size);
        return b;
    }
    return ERROR;
}

static int remove_first(void) {
    if (next > 0 && first < buffer_size) {
        first++;
        return buffer[first - 1];
    }
    return ERROR;
}

static void *producer(void *unused) {
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&m);
        if (send) {
            int inserted = insert(i);
            assert(inserted == i);
            value = i;
            send = false;
            receive = true;
        }
        pthread_mutex_unlock(&m);
    }
    return unused;
}

static void *consumer(void *unused) {
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&m);
        if (receive) {
            int removed = remove_first();
            assert(removed == value);
            receive = false;
            send = true;
        }
        pthread_mutex_unlock(&m);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    buffer_size = SIZE;
    send = true;
    receive = false;
    pthread_mutex_init(&m, 0);
    pthread_create(&threads[0], 0, producer, 0);
    pthread_create(&threads[1], 0, consumer, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
