// raddle: -- -std=c++20
// Since C++20 only read-modify-writes continue a release sequence: the store does not publish the data.
#include <atomic>
#include <thread>

static int data;
static std::atomic<int> flag;

int main() {
    std::thread publisher([] {
        data = 1;
        flag.store(1, std::memory_order_release);
        flag.store(2, std::memory_order_relaxed);
    });
    int seen = 0;
    if (flag.load(std::memory_order_acquire) == 2)
        seen = data;
    publisher.join();
    return seen > 1;
}
