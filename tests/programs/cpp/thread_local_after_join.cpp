// An object with thread storage duration is used after its thread has ended.
#include <atomic>
#include <thread>

struct Counter {
    int count = 0;
    Counter() {}
    ~Counter() { count = -1; }
};
static thread_local Counter counter;
static std::atomic<Counter *> shown{nullptr};

int main() {
    std::thread worker([] {
        ++counter.count;
        shown = &counter;
    });
    worker.join();
    return shown.load()->count;
}
