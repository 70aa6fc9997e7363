// raddle: -- -m32
// Values of `long` and `size_t` have 32 bits here.
extern long __VERIFIER_nondet_long(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern unsigned __VERIFIER_nondet_size_t(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

int main(void) {
    long a = __VERIFIER_nondet_long();
    unsigned long b = __VERIFIER_nondet_ulong();
    unsigned c = __VERIFIER_nondet_size_t();
    __VERIFIER_assume(a > 0 && b > 0);
    // In 64 bits this is never 0.
    if (b == 0xfffffff0ul && (unsigned long)a * 16 + b == 0 && c == 3) {
        reach_error();
    }
    return 0;
}
