// An exception passes from thread to thread by a promise.
// raddle: -- -std=c++17
// engines: naive icb bpor
// bmc: refused
#include <cassert>
#include <future>
#include <stdexcept>

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread worker([&promise] {
        try {
            throw std::out_of_range("far");
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    });
    bool caught = false;
    try {
        future.get();
    } catch (const std::logic_error &error) {
        caught = error.what()[0] == 'f';
    }
    worker.join();
    assert(caught);
    return 0;
}
