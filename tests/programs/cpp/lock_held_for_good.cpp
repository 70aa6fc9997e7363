// raddle: -- -std=c++17
// engines: dpor, rf, rvf, mcr
// bmc: refused
// Somebody keeps one of two mutexes for good: std::lock waits for it, with nothing in hand.
#include <mutex>
#include <thread>

std::mutex one, other;

int main() {
    std::thread thread([] { other.lock(); });
    std::scoped_lock both(one, other);
    thread.join();
}
