// engines: dpor, rf, rvf, mcr
// The flag is set without the mutex: the notification may come between the look and the wait.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static std::atomic<bool> ready;

int main() {
    std::thread t([] {
        ready = true;
        changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (!ready)
            changed.wait(lock);
    }
    t.join();
}
