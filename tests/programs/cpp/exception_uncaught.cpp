// Nobody catches it: a handler for another type is no help.
// bmc: refused
#include <exception>

struct Failure : std::exception {
    const char *what() const noexcept override { return "the disk is full"; }
};

static void save() { throw Failure(); }

int main() {
    try {
        save();
    } catch (int) {
    }
    return 0;
}
