// engines: dpor, rf, rvf, mcr, bpor
// bmc: refused
// One side forgets that a shared pointer is no atomic variable.
#include <atomic>
#include <memory>
#include <thread>

std::shared_ptr<int> current = std::make_shared<int>(1);

int main() {
    std::thread writer([] { std::atomic_store(&current, std::make_shared<int>(2)); });
    std::shared_ptr<int> seen = current;
    writer.join();
    return *seen - *seen;
}
