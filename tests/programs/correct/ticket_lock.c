// A ticket lock: whoever draws number n enters as n-th.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_uint next_ticket, now_serving;
static int counter;

static void add_one(void) {
    unsigned mine = atomic_fetch_add(&next_ticket, 1);
    __VERIFIER_assume(atomic_load(&now_serving) == mine);
    counter++;
    atomic_store(&now_serving, mine + 1);
}

static void *worker(void *arg) {
    (void)arg;
    add_one();
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    add_one();
    pthread_join(t, 0);
    assert(counter == 2);
    return 0;
}
