// A destructor throws while another exception unwinds the stack.
// bmc: refused
struct Loud {
    ~Loud() noexcept(false) { throw 2; }
};

int main() {
    try {
        Loud loud;
        throw 1;
    } catch (int) {
    }
    return 0;
}
