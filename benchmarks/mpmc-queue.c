// mpmc-queue: N threads over a bounded queue of two cells with a turn in each; the first puts, the others get and put in turn.
//
// Awaiting for Godot (FMCAD 2022), table I. A getter waits for an element; a putter for a free cell.
// With BOUND, loops are cut.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 3
#endif
#define CELLS 2
#ifdef BOUND
#define FOREVER for (int k_ = 0;; __VERIFIER_assume(++k_ < BOUND))
#else
#define FOREVER for (;;)
#endif

struct cell {
    /* A putter with ticket t may come when this is t, a getter when it is t+1. */
    atomic_int turn;
    int element;
};

static struct cell cells[CELLS];
static atomic_int head;
static atomic_int tail;

/* Takes the next ticket of a kind as soon as its cell is ready for it. */
static int take(atomic_int *tickets, int ahead) {
    int ticket;
    FOREVER {
        ticket = atomic_load(tickets);
        if (atomic_load(&cells[ticket % CELLS].turn) == ticket + ahead &&
            atomic_compare_exchange_strong(tickets, &ticket, ticket + 1)) {
            break;
        }
    }
    return ticket;
}

static void *putter(void *arg) {
    int ticket = take(&tail, 0);
    struct cell *cell = &cells[ticket % CELLS];
    cell->element = (int)(long)arg;
    atomic_fetch_add(&cell->turn, 1);
    return 0;
}

static void *getter(void *unused) {
    int ticket = take(&head, 1);
    struct cell *cell = &cells[ticket % CELLS];
    assert(cell->element > 0);
    atomic_fetch_add(&cell->turn, CELLS - 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < CELLS; i++) {
        atomic_init(&cells[i].turn, i);
    }
    for (long i = 0; i < N; i++) {
        pthread_create(&thread, 0, i % 2 == 0 ? putter : getter, (void *)(i + 1));
    }
    return 0;
}
