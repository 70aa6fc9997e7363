// Exceptions are refused where they are thrown, not before.
#include <stdexcept>

static int check(int x) {
    if (x > 1)
        throw std::runtime_error("too large");
    return x;
}

int main() {
    try {
        check(1);
        check(2);
    } catch (const std::exception &) {
        return 0;
    }
    return 1;
}
