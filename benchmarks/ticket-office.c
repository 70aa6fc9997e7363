// ticket-office: main opens five counters, each of which sells a ticket, and closes the sale when a counter has found out
// that there are more tickets than seats. With BUG it does not wait for a counter before it opens the next.
//
// After "Airline" of maximal causality reduction (PLDI 2015): six threads, more tickets sold than there are seats.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define COUNTERS 5
#define SEATS 3

static atomic_int sold;
static atomic_int closed;

static void *sell(void *unused) {
    if (atomic_fetch_add(&sold, 1) + 1 > SEATS) {
        atomic_store(&closed, 1);
    }
    return unused;
}

int main(void) {
    pthread_t threads[COUNTERS];
    int opened = 0;
    while (opened < COUNTERS) {
        pthread_create(&threads[opened], 0, sell, 0);
#ifndef BUG
        pthread_join(threads[opened], 0);
#endif
        opened++;
        if (atomic_load(&closed)) {
            atomic_fetch_sub(&sold, 1);
            break;
        }
    }
#ifdef BUG
    for (int i = 0; i < opened; i++) {
        pthread_join(threads[i], 0);
    }
#endif
    assert(atomic_load(&sold) <= SEATS);
    return 0;
}
