// raddle: --unroll 3
// Every round of a loop that is not proved finite counts, also where it goes round by numbers that are known.
#include <assert.h>

_Bool __VERIFIER_nondet_bool(void);

static int n;

int main(void) {
    if (__VERIFIER_nondet_bool()) {
        return 0;
    }
    while (n < 10) {
        n++;
    }
    assert(n < 5);
    return 0;
}
