// A reference count as `std::shared_ptr` and `Arc` have it: with weak references, which can be upgraded as long as there is a strong one.
#include <atomic>
#include <cassert>
#include <thread>

struct Shared {
    std::atomic<int> strong{1};
    std::atomic<int> weak{1};
    int *value = new int(0);
};

static void drop_weak(Shared *shared) {
    if (shared->weak.fetch_sub(1, std::memory_order_release) == 1) { // weaken: relaxed
        std::atomic_thread_fence(std::memory_order_acquire);
        delete shared;
    }
}

static void drop_strong(Shared *shared) {
    if (shared->strong.fetch_sub(1, std::memory_order_release) == 1) { // weaken: relaxed
        std::atomic_thread_fence(std::memory_order_acquire);
        delete shared->value;
        drop_weak(shared);
    }
}

static bool upgrade(Shared *shared) {
    int count = shared->strong.load(std::memory_order_relaxed);
    while (count != 0)
        if (shared->strong.compare_exchange_weak(count, count + 1, std::memory_order_acquire, std::memory_order_relaxed))
            return true;
    return false;
}

int main() {
    auto *shared = new Shared;
    shared->weak.fetch_add(1, std::memory_order_relaxed);
    std::thread other([=] {
        if (upgrade(shared)) {
            assert(*shared->value >= 0);
            drop_strong(shared);
        }
        drop_weak(shared);
    });
    assert(*shared->value == 0);
    drop_strong(shared);
    other.join();
}
