// What the functions of <math.h> promise for any number: rounding, roots, remainders, conversions, signs.
#include <assert.h>
#include <math.h>

float __VERIFIER_nondet_float(void);
double __VERIFIER_nondet_double(void);
short __VERIFIER_nondet_short(void);
void __VERIFIER_assume(int);

static void rounding(double x) {
    __VERIFIER_assume(x >= -1e6 && x <= 1e6);
    assert(floor(x) <= x && ceil(x) >= x);
    assert(fabs(x - (int)x) < 1.0);
    assert(fabs(trunc(x)) <= fabs(x));
    assert(fabs(rint(x) - x) <= 0.5 && fabs(round(x) - x) <= 0.5);
}

static void roots_and_remainders(float x) {
    __VERIFIER_assume(x >= 0.0f && x <= 100.0f);
    assert(sqrtf(x) <= 10.0f);
    float rest = fmodf(x, 7.0f);
    assert(rest >= 0.0f && rest < 7.0f);
}

static void choices(double x, double y) {
    assert(isnan(x) || isnan(y) || (fmin(x, y) <= x && fmax(x, y) >= y));
    assert(isnan(x) || fmax(x, NAN) == x);
    assert(signbit(copysign(x, -1.0)));
}

int main(void) {
    rounding(__VERIFIER_nondet_double());
    roots_and_remainders(__VERIFIER_nondet_float());
    choices(__VERIFIER_nondet_double(), __VERIFIER_nondet_double());
    short number = __VERIFIER_nondet_short();
    assert((short)(float)number == number);
    return 0;
}
