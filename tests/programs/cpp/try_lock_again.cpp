// engines: dpor, rf, rvf, mcr
// bmc: refused
// Loops that try again until they have the mutex.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex mutex;
int count;

void add() {
    while (!mutex.try_lock()) {
        std::this_thread::yield();
    }
    count++;
    mutex.unlock();
}

int main() {
    std::thread thread(add);
    add();
    thread.join();
    assert(count == 2);
}
