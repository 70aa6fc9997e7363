// bmc: refused
// Reading with a lock that others have for reading as well, and writing.
#include <mutex>
#include <shared_mutex>
#include <thread>

std::mutex first, second;
std::shared_mutex shared;
int count;

void add(std::mutex &own) {
    std::shared_lock<std::shared_mutex> reading(shared, std::defer_lock);
    std::lock(own, reading);
    count++;
    own.unlock();
}

int main() {
    std::thread other(add, std::ref(first));
    add(second);
    other.join();
}
