// std::thread with a lambda.
#include <atomic>
#include <cassert>
#include <thread>

int main() {
    std::atomic<int> x{0};
    std::thread t([&] { x = 1; });
    t.join();
    assert(x == 1);
}
