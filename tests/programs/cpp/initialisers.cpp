// engines: dpor, rf, rvf, mcr
// Constructors of static objects run before `main`; a static local is made once, by whoever comes first.
#include <cassert>
#include <thread>

struct Counter {
    int value;
    Counter() : value(start()) {}
    static int start() { return 40; }
};

static Counter before;
static int made;

static Counter &counter() {
    static Counter *const one = [] {
        made++;
        return new Counter;
    }();
    return *one;
}

int main() {
    std::thread t([] { assert(counter().value == 40); });
    assert(counter().value == 40);
    t.join();
    assert(made == 1);
    assert(before.value == 40);
}
