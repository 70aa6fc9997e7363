// std::atomic, templates and references.
#include <atomic>
#include <cassert>
#include <pthread.h>

template <typename T> struct Counter {
    std::atomic<T> value{0};
    void add(T n) { value.fetch_add(n, std::memory_order_relaxed); }
};

static Counter<long> counter;

static void *worker(void *) {
    counter.add(2);
    return nullptr;
}

int main() {
    pthread_t t;
    pthread_create(&t, nullptr, worker, nullptr);
    counter.add(3);
    pthread_join(t, nullptr);
    assert(counter.value.load() == 5);
}
