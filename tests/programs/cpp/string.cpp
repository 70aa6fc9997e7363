// engines: dpor, rf, rvf, mcr
// bmc: refused
// std::string and std::vector: the library's own code runs, and its own assertions are checked.
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::string text;

int main() {
    std::thread t([] {
        std::lock_guard<std::mutex> guard(mutex);
        text += "longer than what fits into the object itself";
    });
    {
        std::lock_guard<std::mutex> guard(mutex);
        text += "x";
    }
    t.join();
    std::vector<int> numbers(2);
    return numbers.at(0) + (text.size() == 45 ? 0 : numbers[2]);
}
