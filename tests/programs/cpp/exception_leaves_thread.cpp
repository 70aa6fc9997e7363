// The handler is in another thread.
// bmc: refused
#include <stdexcept>
#include <thread>

int main() {
    try {
        std::thread worker([] { throw std::logic_error("nobody listens"); });
        worker.join();
    } catch (const std::exception &) {
    }
    return 0;
}
