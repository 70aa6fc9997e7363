// What goes wrong at exit goes wrong.
#include <assert.h>
#include <stdlib.h>

static int balance = 1;

static void check(void) { assert(balance == 0); }

int main(void) {
    atexit(check);
    return 0;
}
