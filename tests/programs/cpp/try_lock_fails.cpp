// bmc: refused
// C++ lets try_lock fail although nobody has the mutex.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex mutex;
int done;

int main() {
    std::thread thread([] {
        if (mutex.try_lock()) {
            done = 1;
            mutex.unlock();
        }
    });
    thread.join();
    assert(done == 1);
}
