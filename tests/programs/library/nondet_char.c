// A byte is few enough values to try them all.
#include <assert.h>

extern unsigned char __VERIFIER_nondet_uchar(void);
extern char __VERIFIER_nondet_char(void);
extern void __VERIFIER_assume(int);

int main(void) {
    unsigned char a = __VERIFIER_nondet_uchar();
    assert(a <= 255);
    __VERIFIER_assume(a == 200);
    char b = __VERIFIER_nondet_char();
    assert(b != -128);
    return 0;
}
