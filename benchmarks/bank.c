// bank: four owners deposit into and withdraw from their accounts; the first also transfers money to the second. With BUG
// the transfer does not take the lock of the account it adds to, and an update can get lost.
//
// After "Account" of maximal causality reduction (PLDI 2015): five threads, an atomicity violation.

#include <assert.h>
#include <pthread.h>

#define OWNERS 4
#define DEPOSIT 300
#define WITHDRAWAL 100
#define TRANSFER 99

struct account {
    int amount;
    pthread_mutex_t lock;
};

static struct account accounts[OWNERS];

static void update(struct account *account, int change) {
    pthread_mutex_lock(&account->lock);
    account->amount = account->amount + change;
    pthread_mutex_unlock(&account->lock);
}

static void transfer(struct account *from, struct account *to) {
    update(from, -TRANSFER);
#ifdef BUG
    to->amount = to->amount + TRANSFER;
#else
    update(to, TRANSFER);
#endif
}

static void *own(void *argument) {
    struct account *account = argument;
    update(account, DEPOSIT);
    update(account, -WITHDRAWAL);
    if (account == &accounts[0]) {
        transfer(account, &accounts[1]);
    }
    return 0;
}

int main(void) {
    pthread_t threads[OWNERS];
    for (int i = 0; i < OWNERS; i++) {
        accounts[i].amount = 1000;
        pthread_mutex_init(&accounts[i].lock, 0);
    }
    for (int i = 0; i < OWNERS; i++) {
        pthread_create(&threads[i], 0, own, &accounts[i]);
    }
    int sum = 0;
    for (int i = 0; i < OWNERS; i++) {
        pthread_join(threads[i], 0);
    }
    for (int i = 0; i < OWNERS; i++) {
        sum += accounts[i].amount;
    }
    assert(sum == OWNERS * (1000 + DEPOSIT - WITHDRAWAL));
    return 0;
}
