// engines: dpor, rf, rvf, mcr
// Waits with a condition variable for any lock, behind `while` and with a deadline.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable_any changed;
static bool ready;
static int data;

int main() {
    std::thread producer([] {
        std::lock_guard<std::mutex> lock(mutex);
        data = 1;
        ready = true;
        changed.notify_all();
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        if (changed.wait_for(lock, std::chrono::milliseconds(5), [] { return ready; }))
            assert(data == 1);
        while (!ready)
            changed.wait(lock);
        assert(data == 1);
    }
    producer.join();
}
