// std::mutex and std::lock_guard, in a class with a virtual function.
#include <cassert>
#include <mutex>
#include <pthread.h>

struct Account {
    virtual ~Account() = default;
    virtual void deposit(int amount) {
        std::lock_guard<std::mutex> guard(mutex);
        balance += amount;
    }
    std::mutex mutex;
    int balance = 0;
};

struct Doubling : Account {
    void deposit(int amount) override { Account::deposit(2 * amount); }
};

static void *worker(void *arg) {
    static_cast<Account *>(arg)->deposit(1);
    return nullptr;
}

int main() {
    Doubling account;
    pthread_t t;
    pthread_create(&t, nullptr, worker, &account);
    account.deposit(10);
    pthread_join(t, nullptr);
    assert(account.balance == 22);
}
