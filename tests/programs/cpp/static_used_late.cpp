// A detached thread uses a static object that `main` destroys on its way out.
#include <atomic>
#include <memory>
#include <thread>

static std::unique_ptr<int> shared = std::make_unique<int>(1);
static std::atomic<int> seen;

int main() {
    std::thread([] { seen = *shared; }).detach();
    return 0;
}
