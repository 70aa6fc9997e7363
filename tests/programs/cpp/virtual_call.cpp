// engines: dpor, rf, rvf, mcr
// Which function is called depends on who comes first.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

struct Shape {
    virtual ~Shape() = default;
    virtual int corners() const = 0;
};
struct Triangle : Shape {
    int corners() const override { return 3; }
};
struct Square : Shape {
    int corners() const override { return 4; }
};

static std::atomic<Shape *> current;

int main() {
    auto triangle = std::make_unique<Triangle>();
    auto square = std::make_unique<Square>();
    current = triangle.get();
    std::thread t([&square] { current = square.get(); });
    int seen = current.load()->corners();
    t.join();
    assert(current.load()->corners() == 4);
    assert(seen == 3);
}
