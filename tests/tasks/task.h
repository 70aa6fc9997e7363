// What tasks of the verification competition declare.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void reach_error(void) {}
#define CLAIM(condition) \
    do { \
        if (!(condition)) { \
            reach_error(); \
            abort(); \
        } \
    } while (0)
#ifndef BROKEN
#define BROKEN 0
#endif
