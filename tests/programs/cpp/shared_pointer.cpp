// Reference counts have weak orderings, which the library chose.
#include <cassert>
#include <memory>
#include <thread>

int main() {
    auto shared = std::make_shared<int>(7);
    std::thread other([copy = shared] { assert(*copy == 7); });
    shared.reset();
    other.join();
}
