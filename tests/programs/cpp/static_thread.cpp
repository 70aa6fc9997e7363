// A static std::thread that nobody joins ends the program, when `main` has returned.
#include <thread>

static std::thread worker;

int main() {
    worker = std::thread([] {});
    return 0;
}
