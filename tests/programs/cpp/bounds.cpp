// The library's own checks are on.
#include <vector>

int main() {
    std::vector<int> numbers(2);
    return numbers[2];
}
