// A lambda has no name: the thread is told by the line that starts it.
#include <thread>
#include <vector>

int main() {
    std::vector<int> results;
    std::thread one([&results] { results.push_back(1); });
    std::thread two([&results] { results.push_back(2); });
    one.join();
    two.join();
    return results.size() == 2 ? 0 : 1;
}
