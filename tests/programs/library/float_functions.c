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

// One number, but the formula does not know it beforehand.
static void on_one_number(double x, float y) {
    __VERIFIER_assume(x == 2.5 && y == -3.5f);
    assert(rint(x) == 2.0 && nearbyint(x) == 2.0 && round(x) == 3.0);
    assert(rintf(y) == -4.0f && roundf(y) == -4.0f && truncf(y) == -3.0f);
    assert(floor(x) == 2.0 && ceil(x) == 3.0 && trunc(x) == 2.0);
    assert(floorf(y) == -4.0f && ceilf(y) == -3.0f && fabsf(y) == 3.5f);
    assert(fmin(x, 1.0) == 1.0 && fmax(x, 1.0) == 2.5 && copysign(x, y) == -2.5);
    assert(sqrt(x * x) == 2.5 && fma(x, x, -6.0) == 0.25 && fmodf(y, 2.0f) == -1.5f);
    assert((int)x == 2 && (int)y == -3 && (unsigned char)(x * 100) == 250);
    assert(x / 0.0 == INFINITY && y / INFINITY == 0.0f && isnan(x * INFINITY + y * INFINITY));
}

int main(void) {
    rounding(__VERIFIER_nondet_double());
    roots_and_remainders(__VERIFIER_nondet_float());
    choices(__VERIFIER_nondet_double(), __VERIFIER_nondet_double());
    on_one_number(__VERIFIER_nondet_double(), __VERIFIER_nondet_float());
    short number = __VERIFIER_nondet_short();
    assert((short)(float)number == number);
    return 0;
}
