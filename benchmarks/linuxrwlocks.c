// linuxrwlocks: one of N threads reads, one writes, the others read and then write, under a lock in the manner of Linux' old
// rwlocks: a counter that readers decrease by one and a writer by a large bias, and which is given back when it was taken.
//
// Awaiting for Godot (FMCAD 2022), table I. The loop's two additions cancel out, but it is not pure.
// With ASSUME, simple waits are assumptions; with BOUND, other loops are cut.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 3
#endif
#define BIAS 0x100000
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

static atomic_int lock;
static int shared;

static void read_lock(void) {
    FOREVER {
        if (atomic_fetch_sub(&lock, 1) > 0) {
            break;
        }
        atomic_fetch_add(&lock, 1);
        AWAIT(atomic_load(&lock) > 0);
    }
}

static void read_unlock(void) { atomic_fetch_add(&lock, 1); }

static void write_lock(void) {
    FOREVER {
        if (atomic_fetch_sub(&lock, BIAS) == BIAS) {
            break;
        }
        atomic_fetch_add(&lock, BIAS);
        AWAIT(atomic_load(&lock) == BIAS);
    }
}

static void write_unlock(void) { atomic_fetch_add(&lock, BIAS); }

static void *writer(void *unused) {
    write_lock();
    shared = 1;
    shared = 2;
    write_unlock();
    return unused;
}

static void *reader(void *unused) {
    read_lock();
    assert(shared != 1);
    read_unlock();
    return unused;
}

static void *both(void *unused) {
    reader(0);
    writer(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    atomic_init(&lock, BIAS);
    pthread_create(&thread, 0, reader, 0);
    pthread_create(&thread, 0, writer, 0);
    for (int i = 2; i < N; i++) {
        pthread_create(&thread, 0, both, 0);
    }
    return 0;
}
