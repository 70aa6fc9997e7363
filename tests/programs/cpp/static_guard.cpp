// The flag of a static variable is acquired, but that is the compiler's business: no ordering of the program is weak.
#include <cassert>
#include <mutex>
#include <thread>

struct Registry {
    std::mutex mutex;
    int entries = 0;
};

static Registry &registry() {
    static Registry instance;
    return instance;
}

static void enter() {
    std::lock_guard<std::mutex> guard(registry().mutex);
    registry().entries++;
}

int main() {
    std::thread other(enter);
    enter();
    other.join();
    assert(registry().entries == 2);
}
