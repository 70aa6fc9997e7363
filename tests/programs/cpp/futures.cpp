// engines: dpor, rf, rvf, mcr
// std::async, std::promise and std::shared_mutex.
#include <cassert>
#include <future>
#include <shared_mutex>
#include <thread>

static std::shared_mutex mutex;
static int first, second;

int main() {
    auto later = std::async(std::launch::async, [] {
        std::unique_lock<std::shared_mutex> lock(mutex);
        first = second = 1;
        return 3;
    });
    {
        std::shared_lock<std::shared_mutex> lock(mutex);
        assert(first == second);
    }
    assert(later.get() == 3);
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread giver([&] { promise.set_value(4); });
    assert(future.get() == 4);
    giver.join();
}
