// Atomic blocks, by begin and end and by a function's name: nothing comes between the read and the write.
#include <assert.h>
#include <pthread.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static int counter;

static void __VERIFIER_atomic_add_two(void) {
    int seen = counter;
    counter = seen + 2;
}

static void *worker(void *arg) {
    (void)arg;
    __VERIFIER_atomic_begin();
    int seen = counter;
    counter = seen + 1;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    __VERIFIER_atomic_add_two();
    pthread_join(t, 0);
    assert(counter == 3);
    return 0;
}
