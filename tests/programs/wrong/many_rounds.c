// engines: bmc
// A stack with room for 400 items that two threads use 400 times each. The consumer takes `filled`, which nobody takes back, for
// a sign that there is an item. Loops that are unrolled in full make a formula that is beyond all measure; two rounds show it.
#include <assert.h>
#include <pthread.h>

#define ROOM 400

unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned items[ROOM];
static int top;
static int filled;

static void *produce(void *unused) {
    for (int round = 0; round < ROOM; round++) {
        pthread_mutex_lock(&lock);
        items[top] = __VERIFIER_nondet_uint();
        top++;
        filled = 1;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *unused) {
    for (int round = 0; round < ROOM; round++) {
        pthread_mutex_lock(&lock);
        if (filled) {
            assert(top > 0);
            top--;
        }
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t producer, consumer;
    pthread_create(&producer, 0, produce, 0);
    pthread_create(&consumer, 0, consume, 0);
    pthread_join(producer, 0);
    pthread_join(consumer, 0);
    return 0;
}
