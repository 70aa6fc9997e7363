// exponential-bug: an error behind deep interactions of three threads, with N redundant writes in the way.
//
// Reads-from equivalence under SC (OOPSLA 2019), table 4; the example of maximal causality reduction (PLDI 2015), figure 2.
// With BUG, the third thread's stop is an assertion that fails. With PLAIN the variables are not atomic, and race.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 1
#endif

#ifdef PLAIN
#define LOAD(variable) (variable)
#define STORE(variable, value) ((variable) = (value))
static int x;
static int y;
#else
#define LOAD(variable) atomic_load(&(variable))
#define STORE(variable, value) atomic_store(&(variable), value)
static atomic_int x;
static atomic_int y;
#endif
static pthread_mutex_t l;

static void *first(void *unused) {
    for (int k = 0; k < 2; k++) {
        pthread_mutex_lock(&l);
        STORE(x, 1);
        for (int i = 0; i < N; i++) {
            STORE(y, 1);
        }
        pthread_mutex_unlock(&l);
    }
    return unused;
}

static void *second(void *unused) {
    for (int k = 0; k < 2; k++) {
        pthread_mutex_lock(&l);
        STORE(x, 0);
        pthread_mutex_unlock(&l);
        if (LOAD(x) > 0) {
            STORE(y, LOAD(y) + 1);
            STORE(x, 2);
        }
    }
    return unused;
}

static void *third(void *unused) {
    for (int k = 0; k < 2; k++) {
        if (LOAD(x) > 1) {
            if (LOAD(y) == 3) {
#ifdef BUG
                assert(0 && "the error is reached");
#endif
                return unused;
            }
            STORE(y, 2);
        }
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_init(&l, 0);
    pthread_create(&thread, 0, first, 0);
    pthread_create(&thread, 0, second, 0);
    pthread_create(&thread, 0, third, 0);
    return 0;
}
