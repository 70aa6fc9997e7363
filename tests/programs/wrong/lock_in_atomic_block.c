// A mutex is taken inside of an atomic block, and kept by a thread whose assumption fails there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int w;
static pthread_mutex_t m;

static void *count(void *arg) {
    __VERIFIER_atomic_begin();
    pthread_mutex_lock(&m);
    __VERIFIER_assume(w == 0);
    w++;
    pthread_mutex_unlock(&m);
    __VERIFIER_atomic_end();
    w = 0;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, count, 0);
    count(0);
    assert(w);
    return 0;
}
