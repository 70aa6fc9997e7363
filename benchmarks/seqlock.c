// seqlock: N-1 threads write a pair under a sequence lock, one reads it and retries until it saw no writer.
//
// Awaiting for Godot (FMCAD 2022), table I. With BOUND, loops are cut after that many iterations.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 3
#endif
#ifdef BOUND
#define FOREVER for (int k_ = 0;; __VERIFIER_assume(++k_ < BOUND))
#else
#define FOREVER for (;;)
#endif

static atomic_int sequence;
static atomic_int left;
static atomic_int right;

static void *writer(void *arg) {
    int id = (int)(long)arg;
    int before;
    FOREVER {
        before = atomic_load(&sequence);
        if (before % 2 == 0 && atomic_compare_exchange_strong(&sequence, &before, before + 1)) {
            break;
        }
    }
    atomic_store(&left, id);
    atomic_store(&right, id);
    atomic_store(&sequence, before + 2);
    return 0;
}

static void *reader(void *unused) {
    int l;
    int r;
    FOREVER {
        int before = atomic_load(&sequence);
        if (before % 2 != 0) {
            continue;
        }
        l = atomic_load(&left);
        r = atomic_load(&right);
        if (atomic_load(&sequence) == before) {
            break;
        }
    }
    assert(l == r);
    return unused;
}

int main(void) {
    pthread_t thread;
    for (long i = 1; i < N; i++) {
        pthread_create(&thread, 0, writer, (void *)i);
    }
    pthread_create(&thread, 0, reader, 0);
    return 0;
}
