// A cast of a reference that fails throws.
// bmc: refused
struct Base {
    virtual ~Base() {}
};
struct Derived : Base {
    int value = 1;
};

static int value(Base &base) { return dynamic_cast<Derived &>(base).value; }

int main() {
    Derived derived;
    Base base;
    return value(derived) + value(base);
}
