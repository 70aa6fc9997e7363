// A promise that goes away without a value.
// raddle: -- -std=c++17
// bmc: refused
#include <cassert>
#include <future>

int main() {
    std::future<int> future;
    {
        std::promise<int> promise;
        future = promise.get_future();
    }
    bool caught = false;
    try {
        future.get();
    } catch (const std::future_error &error) {
        caught = error.code() == std::future_errc::broken_promise;
    }
    assert(caught);
    return 0;
}
