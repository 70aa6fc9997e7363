// The remainder of doubles takes one round for each exponent between them: too many for a formula.
#include <assert.h>
#include <math.h>

double __VERIFIER_nondet_double(void);

int main(void) {
    double angle = __VERIFIER_nondet_double();
    assert(fmod(angle, 360.0) < 360.0);
    return 0;
}
