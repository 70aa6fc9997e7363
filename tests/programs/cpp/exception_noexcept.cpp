// What is `noexcept` is left by no exception, caught or not.
// bmc: refused
namespace shop {
struct SoldOut {
    int item;
};
} // namespace shop

static void take(int item) {
    if (item > 2)
        throw shop::SoldOut{item};
}

static void serve(int item) noexcept { take(item); }

int main() {
    try {
        serve(3);
    } catch (const shop::SoldOut &) {
    }
    return 0;
}
