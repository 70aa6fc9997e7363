// engines: dpor, rf, rvf, mcr, bpor
// Static objects are destroyed when `main` returns, those of the thread first, the last one made before the others.
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <thread>

static int alive;

struct Counted {
    int position;
    explicit Counted(int expected) : position(expected) { assert(alive++ == position); }
    ~Counted() { assert(--alive == position); }
};

__attribute__((destructor)) static void at_the_very_end() { assert(alive == 0); }

static Counted first(0);

static int registered = std::atexit([] { assert(alive == 1); });

// A pool whose destructor tells its worker to stop, and waits for it.
class Pool {
    std::mutex mutex;
    bool stopped = false;
    std::atomic<int> done{0};
    std::thread worker;

    void run() {
        for (;;) {
            std::lock_guard<std::mutex> lock(mutex);
            if (stopped || done == 2)
                return;
            done++;
        }
    }

public:
    Pool() : worker([this] { run(); }) {}
    ~Pool() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            stopped = true;
        }
        worker.join();
        assert(alive == 2);
    }
};

static Counted &local() {
    static Counted second(1);
    return second;
}

static Pool &pool() {
    static Pool the_pool;
    return the_pool;
}

thread_local Counted own(2);

int main() {
    local();
    pool();
    assert(own.position == 2);
    return 0;
}
