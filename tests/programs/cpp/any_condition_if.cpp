// Waits with a condition variable for any lock, and does not look again when it wakes up.
#include <cassert>
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
        changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        if (!ready)
            changed.wait(lock);
        assert(data == 1);
    }
    producer.join();
}
