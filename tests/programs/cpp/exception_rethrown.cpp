// `throw;` sends on the same object, also out of a nested handler; it lives until its last handler is left.
// bmc: refused
#include <cassert>
#include <exception>

static int alive;

struct Error {
    int steps = 0;
    Error() { ++alive; }
    Error(const Error &other) : steps(other.steps) { ++alive; }
    ~Error() { --alive; }
};

static void first() { throw Error(); }

static void second() {
    try {
        first();
    } catch (Error &error) {
        ++error.steps;
        try {
            throw;
        } catch (Error &same) {
            assert(&same == &error);
            ++same.steps;
        }
        assert(alive == 1);
        throw;
    }
}

int main() {
    int steps = 0;
    try {
        second();
    } catch (const Error &error) {
        steps = error.steps;
        assert(alive == 1 && std::uncaught_exceptions() == 0);
    }
    assert(steps == 2);
    assert(alive == 0);
    return 0;
}
