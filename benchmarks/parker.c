// parker: a thread parks until a condition holds, another sets the condition and unparks it. No wake-up may get lost.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 4; also in the ordering-consistency paper, table 8. The structure is
// that of LockSupport.park in HotSpot, with a try-lock from two flags in the manner of Dekker; the paper's own source differs,
// and so do its counts. The parker tries at most N times.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 8
#endif

enum { PARKER, UNPARKER };

static atomic_bool wants[2];
static atomic_int counter;
static atomic_bool signalled;
static atomic_bool global_cond;
static atomic_bool finished;

static bool try_lock(int me) {
    atomic_store(&wants[me], true);
    if (atomic_load(&wants[1 - me])) {
        atomic_store(&wants[me], false);
        return false;
    }
    return true;
}

static void lock(int me){ atomic_store(&wants[me], true); __VERIFIER_assume(!atomic_load(&wants[1-me])); }
static void unlock(int me) { atomic_store(&wants[me], false); }

static void park(void) {
    if (atomic_load(&counter) > 0) {
        atomic_store(&counter, 0);
        return;
    }
    if (!try_lock(PARKER)) {
        return;
    }
    if (atomic_load(&counter) > 0) {
        atomic_store(&counter, 0);
        unlock(PARKER);
        return;
    }
    atomic_store(&signalled, false);
    unlock(PARKER);
    if (atomic_load(&finished)) {
        /* Nobody will wake this thread any more: it must have been woken. */
        assert(atomic_load(&signalled));
    } else {
        __VERIFIER_assume(atomic_load(&signalled));
    }
    lock(PARKER);
    atomic_store(&counter, 0);
    unlock(PARKER);
}

static void unpark(void) {
    lock(UNPARKER);
    int before = atomic_load(&counter);
    atomic_store(&counter, 1);
    unlock(UNPARKER);
    if (before < 1) {
        atomic_store(&signalled, true);
    }
}

static void *parker(void *unused) {
    for (int i = 0; !atomic_load(&global_cond); i++) {
        __VERIFIER_assume(i < N);
        park();
    }
    return unused;
}

static void *unparker(void *unused) {
    unpark();
    atomic_store(&global_cond, true);
    unpark();
    atomic_store(&finished, true);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, parker, 0);
    pthread_create(&thread, 0, unparker, 0);
    return 0;
}
