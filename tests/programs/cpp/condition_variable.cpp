// engines: dpor, rf, rvf, mcr
// std::condition_variable with a predicate, and shared_ptr.
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable filled;
static std::shared_ptr<int> slot;

int main() {
    std::thread producer([] {
        auto value = std::make_shared<int>(42);
        std::lock_guard<std::mutex> guard(mutex);
        slot = value;
        filled.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        filled.wait(lock, [] { return slot != nullptr; });
        assert(*slot == 42);
    }
    producer.join();
    assert(slot.use_count() == 1);
}
