// raddle: -- -std=c++17
// bmc: refused
// engines: dpor, rf, rvf, mcr
// A log that two threads write to without a lock.
#include <sstream>
#include <thread>

static std::ostringstream log_text;

static void worker(int id) {
    log_text << id;
}

int main() {
    std::thread one(worker, 1), two(worker, 2);
    one.join();
    two.join();
}
