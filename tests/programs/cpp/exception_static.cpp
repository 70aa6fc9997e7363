// The initialiser of a static variable throws once; the variable is initialised by the next to come.
// bmc: refused
#include <cassert>
#include <thread>

static int tries;

struct Table {
    int size;
    Table() {
        if (++tries == 1)
            throw tries;
        size = 5;
    }
};

static int size() {
    static Table table;
    return table.size;
}

static int use() {
    try {
        return size();
    } catch (int) {
        return size();
    }
}

int main() {
    int theirs = 0;
    std::thread other([&theirs] { theirs = use(); });
    int mine = use();
    other.join();
    assert(mine == 5 && theirs == 5 && tries == 2);
    return 0;
}
