// seqlock: one of N threads reads under a sequence lock, one writes, the others read and then write. Writers exclude each other
// by a mutex; readers retry until they saw no writer.
//
// Awaiting for Godot (FMCAD 2022), table I. With ASSUME, simple waits are assumptions; with BOUND, other loops
// are cut.

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
#ifdef ASSUME
#define AWAIT(condition) __VERIFIER_assume(condition)
#else
#define AWAIT(condition) while (!(condition)) {}
#endif

static pthread_mutex_t writers;
static atomic_int sequence;
/* How often it was written. */
static atomic_int data;

static void *writer(void *unused) {
    pthread_mutex_lock(&writers);
    int before = atomic_load(&sequence);
    atomic_store(&sequence, before + 1);
    atomic_store(&data, before / 2 + 1);
    atomic_store(&sequence, before + 2);
    pthread_mutex_unlock(&writers);
    return unused;
}

static void *reader(void *unused) {
    int before;
    int seen;
    FOREVER {
        AWAIT((before = atomic_load(&sequence)) % 2 == 0);
        seen = atomic_load(&data);
        if (atomic_load(&sequence) == before) {
            break;
        }
    }
    assert(seen == before / 2);
    return unused;
}

static void *both(void *unused) {
    reader(0);
    writer(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_init(&writers, 0);
    pthread_create(&thread, 0, reader, 0);
    pthread_create(&thread, 0, writer, 0);
    for (int i = 2; i < N; i++) {
        pthread_create(&thread, 0, both, 0);
    }
    return 0;
}
