// raddle: --quiet
// One line a violation.
#include <assert.h>

int main(void) {
    assert(1 + 1 == 3);
    return 0;
}
