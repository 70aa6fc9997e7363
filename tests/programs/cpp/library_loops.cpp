// raddle: --unroll 1 --quiet
// The bound is for the loops of the program: those of the library go round as often as they do.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <numeric>
#include <thread>
#include <vector>

int main() {
    std::vector<int> numbers(20, 1);
    std::atomic<int> sum{0};
    std::reverse(numbers.begin(), numbers.end());
    std::thread other([&] { sum = std::accumulate(numbers.begin(), numbers.end(), 0); });
    assert(sum == 0);
    other.join();
}
