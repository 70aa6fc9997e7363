// szymanski: Szymanski's mutual exclusion for two threads, N rounds each. A wait is at most two tries; a thread whose
// tries are used up leaves.
//
// Ordering-consistency paper, table 8.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef N
#define N 1
#endif
#define TRIES 2

enum { OUTSIDE, INTERESTED, WAITING, AT_THE_DOOR, INSIDE };

static atomic_int flag[2];
static atomic_int x;

/* Waits until the flag is in [low, high]. */
static bool await(atomic_int *other, int low, int high) {
    for (int i = 0; i < TRIES; i++) {
        int f = atomic_load(other);
        if (low <= f && f <= high) {
            return true;
        }
    }
    return false;
}

static bool enter(int me) {
    atomic_int *mine = &flag[me];
    atomic_int *other = &flag[1 - me];
    atomic_store(mine, INTERESTED);
    if (!await(other, OUTSIDE, WAITING)) {
        return false;
    }
    atomic_store(mine, AT_THE_DOOR);
    if (atomic_load(other) == INTERESTED) {
        atomic_store(mine, WAITING);
        if (!await(other, INSIDE, INSIDE)) {
            return false;
        }
    }
    atomic_store(mine, INSIDE);
    /* The lower number goes first. */
    return me == 0 || await(other, OUTSIDE, INTERESTED);
}

static bool leave(int me) {
    if (me == 0) {
        for (int i = 0;; i++) {
            int f = atomic_load(&flag[1]);
            if (f != WAITING && f != AT_THE_DOOR) {
                break;
            }
            if (i == TRIES - 1) {
                return false;
            }
        }
    }
    atomic_store(&flag[me], OUTSIDE);
    return true;
}

static void *rounds(void *arg) {
    int me = (int)(long)arg;
    for (int i = 0; i < N; i++) {
        if (!enter(me)) {
            break;
        }
        atomic_store(&x, me);
        assert(atomic_load(&x) == me);
        if (!leave(me)) {
            break;
        }
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, rounds, (void *)0L);
    pthread_create(&thread, 0, rounds, (void *)1L);
    return 0;
}
