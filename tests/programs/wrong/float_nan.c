// What is neither below 0 nor above 100 need not be between them.
#include <assert.h>
#include <pthread.h>

double __VERIFIER_nondet_double(void);

static double level;

static void *set(void *unused) {
    double wanted = __VERIFIER_nondet_double();
    if (wanted < 0.0)
        wanted = 0.0;
    if (wanted > 100.0)
        wanted = 100.0;
    level = wanted;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    pthread_join(thread, 0);
    assert(level >= 0.0 && level <= 100.0);
    return 0;
}
