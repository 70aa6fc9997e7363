// bmc: refused
// engines: dpor, rf, rvf, mcr
// std::lock of mutexes of several types, and of locks of them, in different orders.
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::mutex plain;
std::recursive_mutex recursive;
std::shared_mutex shared;
int count;

int main() {
    std::thread other([] {
        std::scoped_lock all(plain, recursive, shared);
        count++;
    });
    {
        std::unique_lock<std::recursive_mutex> one(recursive, std::defer_lock);
        std::unique_lock<std::mutex> two(plain, std::defer_lock);
        std::lock(one, two);
        count++;
    }
    {
        std::shared_lock<std::shared_mutex> reading(shared, std::defer_lock);
        std::lock(reading, recursive);
        assert(count == 1 || count == 2);
        recursive.unlock();
    }
    other.join();
    assert(count == 2);
}
