// raddle: -- -std=c++17
// engines: dpor, rf, rvf, mcr
// bmc: refused
// Two threads take two mutexes in opposite order, as std::lock allows.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex one, other;
int count;

int main() {
    std::thread thread([] {
        std::scoped_lock both(one, other);
        count++;
    });
    std::unique_lock<std::mutex> first(other, std::defer_lock), second(one, std::defer_lock);
    std::lock(first, second);
    count++;
    first.unlock();
    second.unlock();
    thread.join();
    assert(count == 2);
}
