// Three philosophers with spin locks for forks.
// engines: dpor, rf, rvf, mcr
#include <atomic>
#include <thread>

static std::atomic<bool> forks[3];

static void take(int fork) {
    bool free = false;
    while (!forks[fork].compare_exchange_weak(free, true, std::memory_order_acquire)) {
        free = false;
        std::this_thread::yield();
    }
}

static void dine(int seat) {
    take(seat);
    take((seat + 1) % 3);
    forks[(seat + 1) % 3].store(false, std::memory_order_release);
    forks[seat].store(false, std::memory_order_release);
}

int main() {
    std::thread first(dine, 0), second(dine, 1);
    dine(2);
    first.join();
    second.join();
    return 0;
}
