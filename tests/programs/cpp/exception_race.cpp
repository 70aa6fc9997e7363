// Both handlers count, without a lock.
// bmc: refused
#include <thread>

static int failures;

static void work() {
    try {
        throw 1;
    } catch (int) {
        ++failures;
    }
}

int main() {
    std::thread other(work);
    work();
    other.join();
    return failures;
}
