// The exception points to a variable of a function that is no more.
// bmc: refused
#include <atomic>

struct Error {
    std::atomic<int> *where;
};

static void fail() {
    std::atomic<int> local{3};
    throw Error{&local};
}

int main() {
    try {
        fail();
    } catch (const Error &error) {
        return error.where->load();
    }
    return 0;
}
