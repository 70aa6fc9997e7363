// A constructor that leaves a member alone.
#include <memory>
#include <mutex>
#include <thread>

class Counter {
public:
    Counter() {}
    bool empty() {
        std::lock_guard<std::mutex> lock(mutex_);
        return count_ == 0;
    }

private:
    std::mutex mutex_;
    int count_;
};

int main() {
    auto counter = std::make_unique<Counter>();
    bool empty = false;
    std::thread thread([&] { empty = counter->empty(); });
    thread.join();
    return empty ? 0 : 1;
}
