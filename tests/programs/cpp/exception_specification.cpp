// A function that says what it throws, in the old way, and throws something else.
// raddle: -- -std=c++11 -Wno-deprecated
// bmc: refused
struct Allowed {};
struct Other {};

static void f(int x) throw(Allowed) {
    if (x == 1)
        throw Allowed();
    throw Other();
}

int main() {
    try {
        f(1);
    } catch (const Allowed &) {
    }
    try {
        f(2);
    } catch (const Other &) {
    }
    return 0;
}
