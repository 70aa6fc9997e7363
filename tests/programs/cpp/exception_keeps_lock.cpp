// The same without a guard: the lock is never given back.
// bmc: refused
#include <mutex>
#include <thread>

static std::mutex mutex;
static int left = 1;

static void take() {
    mutex.lock();
    if (left == 0)
        throw "empty";
    --left;
    mutex.unlock();
}

static void customer() {
    try {
        take();
        take();
    } catch (const char *) {
    }
}

int main() {
    std::thread a(customer), b(customer);
    a.join();
    b.join();
    return 0;
}
