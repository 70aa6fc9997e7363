// std::condition_variable::wait may return although nobody has notified it; with a predicate it checks again.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static bool first, second;

int main() {
    std::thread setter([] {
        std::lock_guard<std::mutex> lock(mutex);
        first = second = true;
        changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        if (!first)
            changed.wait(lock);
        bool was_first = first;
        changed.wait(lock, [] { return second; });
        assert(second);
        assert(was_first);
    }
    setter.join();
}
