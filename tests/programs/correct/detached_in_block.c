// A thread is started and detached in one atomic block, which then looks at what the thread writes: it cannot have run before.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x, y;

static void *work(void *arg) {
    x = 1;
    y = 1;
    return arg;
}

int main(void) {
    pthread_t thread;
    __VERIFIER_atomic_begin();
    pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
    int seen = x;
    __VERIFIER_atomic_end();
    assert(!seen);
    if (y) {
        assert(x);
    }
    return 0;
}
