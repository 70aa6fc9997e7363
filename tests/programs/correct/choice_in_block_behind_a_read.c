// As wrong/choice_in_block_behind_a_read.c, but nobody can read what would be wrong: between the store and the addition nothing is chosen.
#include <pthread.h>
#include <stdatomic.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

atomic_int closed, value;

void *perhaps(void *arg) {
    __VERIFIER_atomic_begin();
    if (closed == 0 && __VERIFIER_nondet_bool())
        value = 2;
    __VERIFIER_atomic_end();
    return 0;
}

void *count(void *arg) {
    __VERIFIER_atomic_begin();
    value = 0;
    value++;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, perhaps, 0);
    pthread_create(&threads[1], 0, count, 0);
    __VERIFIER_atomic_begin();
    if (value == 3)
        reach_error();
    closed = 1;
    __VERIFIER_atomic_end();
    return 0;
}
