// The destructor of a static pool forgets to tell its worker to stop under the lock: the signal may be lost.
#include <condition_variable>
#include <mutex>
#include <atomic>
#include <thread>

class Pool {
    std::mutex mutex;
    std::condition_variable wake;
    std::atomic<bool> stopped{false};
    std::thread worker;

    void run() {
        std::unique_lock<std::mutex> lock(mutex);
        while (!stopped)
            wake.wait(lock);
    }

public:
    Pool() : worker([this] { run(); }) {}
    ~Pool() {
        stopped = true;
        wake.notify_all();
        worker.join();
    }
};

static Pool pool;

int main() { return 0; }
