// Down, across and to nothing.
#include <cassert>

struct Base {
    int tag = 1;
    virtual ~Base() {}
};
struct Left : virtual Base {
    int left = 2;
};
struct Right : virtual Base {
    int right = 3;
};
struct Both : Left, Right {
    int last = 4;
};
struct Other : Base {};
struct Twice : Other {
    Other inner;
};
struct Hidden : private Other, public Left {};

int main() {
    Both both;
    Base *base = &both;
    assert(dynamic_cast<Both *>(base) == &both);
    assert(dynamic_cast<Left *>(base)->left == 2);
    Left *left = &both;
    assert(dynamic_cast<Right *>(left)->right == 3);
    assert(dynamic_cast<void *>(static_cast<Right *>(&both)) == &both);
    assert(dynamic_cast<Other *>(base) == nullptr);
    Hidden hidden;
    left = &hidden;
    assert(dynamic_cast<Other *>(left) == nullptr);
    assert(dynamic_cast<Hidden *>(left) == &hidden);
    Twice twice;
    base = static_cast<Other *>(&twice);
    assert(dynamic_cast<Twice *>(base) == &twice);
    base = &twice.inner;
    assert(dynamic_cast<Twice *>(base) == nullptr);
    return 0;
}
