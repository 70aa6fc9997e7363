// An exception of the library is caught as its base.
// bmc: refused
#include <cassert>
#include <stdexcept>

static int check(int x) {
    if (x > 1)
        throw std::runtime_error("too large");
    return x;
}

int main() {
    int caught = 0;
    try {
        check(1);
        check(2);
        assert(false);
    } catch (const std::exception &error) {
        caught = error.what()[0] == 't';
    }
    assert(caught);
    return 0;
}
