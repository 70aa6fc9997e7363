// Each call is protected, both together are not.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex m;
static std::vector<int> items;

static bool empty() {
    std::lock_guard<std::mutex> guard(m);
    return items.empty();
}

static int pop() {
    std::lock_guard<std::mutex> guard(m);
    assert(!items.empty());
    int last = items.back();
    items.pop_back();
    return last;
}

static void take() {
    if (!empty()) pop();
}

int main() {
    items.push_back(7);
    std::thread one(take), two(take);
    one.join();
    two.join();
    return 0;
}
