// Threads are named by the function they run, and what the library does is told of the line that called it.
#include <mutex>
#include <thread>

static std::mutex a, b;

static void left() {
    std::lock_guard<std::mutex> first(a);
    std::lock_guard<std::mutex> second(b);
}

static void right() {
    std::lock_guard<std::mutex> first(b);
    std::lock_guard<std::mutex> second(a);
}

int main() {
    std::thread one(left), two(right);
    one.join();
    two.join();
    return 0;
}
