// allocation: two threads take blocks from a common table and give them back, N times. With BUG a free block is looked for
// and marked in two steps, so that both threads may get the same.
//
// After "Allocation" of maximal causality reduction (PLDI 2015): three threads, a block is allocated or freed twice.

#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif
#define BLOCKS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char is_taken[BLOCKS];

static int find(void) {
    int found = -1;
    for (int block = 0; block < BLOCKS && found < 0; block++) {
        if (!is_taken[block]) {
            found = block;
        }
    }
    return found;
}

static void take(int block) {
    assert(!is_taken[block]);
    is_taken[block] = 1;
}

static int allocate(void) {
    pthread_mutex_lock(&lock);
    int block = find();
#ifdef BUG
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (block >= 0) {
        take(block);
    }
    pthread_mutex_unlock(&lock);
    return block;
}

static void release(int block) {
    pthread_mutex_lock(&lock);
    assert(is_taken[block]);
    is_taken[block] = 0;
    pthread_mutex_unlock(&lock);
}

static void *use(void *unused) {
    for (int i = 0; i < N; i++) {
        int block = allocate();
        if (block >= 0) {
            release(block);
        }
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, use, 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
