// A constructor that throws: what was built is destroyed, the rest is not, and the memory is freed.
// bmc: refused
#include <cassert>

static int destroyed;

struct Member {
    int digit;
    explicit Member(int digit) : digit(digit) {
        if (digit == 3)
            throw digit;
    }
    ~Member() { destroyed = 10 * destroyed + digit; }
};

struct Whole {
    Member first{1}, second{2}, third{3}, fourth{4};
    ~Whole() { destroyed = -1; }
};

int main() {
    int caught = 0;
    try {
        delete new Whole;
    } catch (int digit) {
        caught = digit;
    }
    assert(caught == 3);
    assert(destroyed == 21);
    return 0;
}
