// An initialiser that throws is run again, by whoever comes next.
// bmc: refused
#include <cassert>
#include <mutex>
#include <thread>

static std::once_flag flag;
static int runs, ready;

static void initialise() {
    if (++runs == 1)
        throw runs;
    ready = 1;
}

static void use() {
    try {
        std::call_once(flag, initialise);
    } catch (int) {
        std::call_once(flag, initialise);
    }
    assert(ready == 1);
}

int main() {
    std::thread other(use);
    use();
    other.join();
    assert(runs == 2);
    return 0;
}
