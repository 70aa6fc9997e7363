// Blocks of memory that are allocated in a loop shift the addresses of later ones: a place in a function that a library function
// calls is the same place all the same, whatever the bound on loops.
#include <assert.h>
#include <stdlib.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int condition);

static int blocks;

static int compare(const void *a, const void *b) {
    (void)a;
    (void)b;
    int rounds = 0;
    while (__VERIFIER_nondet_bool()) {
        rounds++;
        __VERIFIER_assume(rounds < 4);
    }
    assert(rounds != 2 || blocks > 0);
    return 0;
}

int main(void) {
    while (__VERIFIER_nondet_bool()) {
        free(malloc(4));
        blocks++;
        __VERIFIER_assume(blocks < 4);
    }
    int *numbers = malloc(2 * sizeof *numbers);
    numbers[0] = 1;
    numbers[1] = 2;
    qsort(numbers, 2, sizeof *numbers, compare);
    free(numbers);
    return 0;
}
