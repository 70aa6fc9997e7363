// engines: dpor, rf, rvf, mcr, graph
// The destructor of an object with thread storage duration uses another one.
#include <cassert>
#include <thread>

static thread_local int entries[2];

struct Log {
    int *first;
    Log() : first(entries) {}
    ~Log() {
        first[1] = first[0] + 1;
        assert(entries[1] == 2);
    }
};
static thread_local Log log_of_thread;

int main() {
    auto work = [] { log_of_thread.first[0] = 1; };
    std::thread one(work), two(work);
    one.join();
    two.join();
}
