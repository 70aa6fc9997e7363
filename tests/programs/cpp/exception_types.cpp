// Handlers are tried in order: by type, by base (also a virtual one), pointers by what they point to, and all.
// bmc: refused
#include <cassert>

struct Base {
    int tag = 1;
    virtual ~Base() {}
};
struct Derived : Base {
    int more = 2;
};
struct Left : virtual Base {};
struct Right : virtual Base {};
struct Both : Left, Right {
    int last = 7;
};
struct Hidden : private Base {};

static int kind(int which) {
    static Derived derived;
    try {
        switch (which) {
        case 0: throw 42;
        case 1: throw Derived();
        case 2: throw Both();
        case 3: throw &derived;
        case 4: throw "text";
        case 5: throw Hidden();
        case 6: throw nullptr;
        default: throw 1.5;
        }
    } catch (long) {
        return -1;
    } catch (int value) {
        return value;
    } catch (const Derived &derived) {
        return derived.tag + derived.more;
    } catch (Base &base) {
        return base.tag;
    } catch (Base *base) {
        return base == nullptr ? 6 : base == &derived ? 4 : -4;
    } catch (const char *text) {
        return text[0];
    } catch (...) {
        return 5;
    }
}

int main() {
    assert(kind(0) == 42);
    assert(kind(1) == 3);
    assert(kind(2) == 1);
    assert(kind(3) == 4);
    assert(kind(4) == 't');
    assert(kind(5) == 5);
    assert(kind(6) == 6);
    assert(kind(7) == 5);
    return 0;
}
