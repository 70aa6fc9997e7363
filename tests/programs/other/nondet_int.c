// raddle: --engine rf
// Any integer at all: more than an exploring engine can try.
int __VERIFIER_nondet_int(void);

int main(void) { return __VERIFIER_nondet_int() == 7; }
