// Two threads throw the same exception at once; the last one to let go of it destroys it.
// engines: naive
// bmc: refused
#include <atomic>
#include <cassert>
#include <exception>
#include <thread>

static std::atomic<int> destroyed;

struct Error {
    int code;
    explicit Error(int code) : code(code) {}
    Error(const Error &) = default;
    ~Error() {
        if (code == 5)
            ++destroyed;
    }
};

static std::exception_ptr shared;

static void look(int *seen) {
    try {
        std::rethrow_exception(shared);
    } catch (const Error &error) {
        *seen = error.code;
    }
}

int main() {
    try {
        throw Error(5);
    } catch (...) {
        shared = std::current_exception();
    }
    int first = 0, second = 0;
    std::thread other(look, &first);
    look(&second);
    other.join();
    assert(first == 5 && second == 5 && destroyed == 0);
    shared = nullptr;
    assert(destroyed == 1);
    return 0;
}
