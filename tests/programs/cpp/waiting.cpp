// engines: dpor, rf, rvf, mcr
// std::condition_variable, std::call_once, static locals, thread-local objects with destructors.
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable changed;
static bool ready;
static std::once_flag once;
static std::atomic<int> initialised, destroyed, made;

struct Own {
    int value = 1;
    ~Own() { destroyed++; }
};
static thread_local Own own;

static int shared_static() {
    static int number = made.fetch_add(1) + 7;
    return number;
}

static void work() {
    std::call_once(once, [] { initialised++; });
    own.value++;
    assert(own.value == 2 && shared_static() == 7);
    std::unique_lock<std::mutex> lock(mutex);
    ready = true;
    changed.notify_all();
}

int main() {
    std::vector<std::thread> threads;
    threads.emplace_back(work);
    std::call_once(once, [] { initialised++; });
    assert(initialised == 1 && shared_static() == 7);
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [] { return ready; });
        assert(!changed.wait_for(lock, std::chrono::milliseconds(1), [] { return !ready; }));
    }
    for (auto &thread : threads)
        thread.join();
    assert(destroyed == 1 && made == 1);
}
