// twalock: N threads pass through a ticket lock with a waiting array once each.
//
// Awaiting for Godot (FMCAD 2022), table I. Threads far from their turn wait on a slot of the array, the next one on the
// ticket that is served. With ASSUME, simple waits are assumptions; with BOUND, other loops are cut.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 3
#endif
#define SLOTS 4
#define NEAR 1
#ifdef BOUND
#define FOREVER for (int k_ = 0;; __VERIFIER_assume(++k_ < BOUND))
#else
#define FOREVER for (;;)
#endif
#ifdef ASSUME
#define AWAIT(condition) __VERIFIER_assume(condition)
#else
#define AWAIT(condition) while (!(condition)) {}
#endif

static atomic_int next_ticket;
static atomic_int served;
static atomic_int waiting[SLOTS];
static int shared;

static void lock(void) {
    int ticket = atomic_fetch_add(&next_ticket, 1);
    int distance = ticket - atomic_load(&served);
    if (distance == 0) {
        return;
    }
    if (distance > NEAR) {
        atomic_int *slot = &waiting[ticket % SLOTS];
        FOREVER {
            int seen = atomic_load(slot);
            if (ticket - atomic_load(&served) <= NEAR) {
                break;
            }
            AWAIT(atomic_load(slot) != seen);
        }
    }
    AWAIT(atomic_load(&served) == ticket);
}

static void unlock(void) {
    int next = atomic_load(&served) + 1;
    atomic_store(&served, next);
    atomic_fetch_add(&waiting[(next + NEAR) % SLOTS], 1);
}

static void *pass(void *arg) {
    int id = (int)(long)arg;
    lock();
    shared = id;
    assert(shared == id);
    unlock();
    return 0;
}

int main(void) {
    pthread_t thread;
    for (long i = 0; i < N; i++) {
        pthread_create(&thread, 0, pass, (void *)i);
    }
    return 0;
}
