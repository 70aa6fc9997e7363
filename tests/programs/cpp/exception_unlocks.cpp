// Unwinding gives the lock back: one of two threads finds nothing left, and nobody waits for good.
// bmc: refused
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex mutex;
static int left = 1;

static void take() {
    std::lock_guard<std::mutex> guard(mutex);
    if (left == 0)
        throw "empty";
    --left;
}

static void customer(int *failures) {
    try {
        take();
    } catch (const char *) {
        *failures = 1;
    }
}

int main() {
    int first = 0, second = 0;
    std::thread a(customer, &first), b(customer, &second);
    a.join();
    b.join();
    assert(first + second == 1);
    assert(left == 0);
    return 0;
}
