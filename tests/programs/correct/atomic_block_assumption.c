// A block in which an assumption fails does not happen.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_int x, y, turn;

void __VERIFIER_atomic_swap(void) {
    x = 1;
    y = 1;
    __VERIFIER_assume(turn != 0);
    y = 2;
    x = 0;
}

static void *swap(void *arg) {
    __VERIFIER_atomic_swap();
    assert(turn == 1 && y == 2);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, swap, 0);
    assert(x == 0 && y != 1);
    turn = 1;
    assert(x == 0 && y != 1);
    return 0;
}
