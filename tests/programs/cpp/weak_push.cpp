// engines: dpor, rf, rvf, mcr
// A stack whose nodes keep the expected value themselves: failures for no reason store what is there already, in memory that nobody else knows.
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
    int value;
    Node *next;
};

std::atomic<Node *> head;

void push(int value) {
    Node *node = new Node{value, nullptr};
    node->next = head.load();
    while (!head.compare_exchange_weak(node->next, node)) {
    }
}

Node *pop() {
    Node *old = head.load();
    while (old && !head.compare_exchange_weak(old, old->next)) {
    }
    return old;
}

int main() {
    std::thread one([] { push(1); }), other([] { push(2); });
    Node *first = pop();
    one.join();
    other.join();
    Node *second = pop();
    assert(second && second != first);
}
