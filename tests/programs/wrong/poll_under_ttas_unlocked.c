// engines: dpor
// bmc: endless
// A consumer polls a mailbox under a spin lock that is tried again only when it was seen free (test and test-and-set). Rounds that find
// nothing come to nothing. The sender does not take the lock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

atomic_bool taken;
int mail;

static void lock(void) {
    while (atomic_exchange_explicit(&taken, true, memory_order_acquire))
        while (atomic_load_explicit(&taken, memory_order_relaxed)) {
        }
}

static void unlock(void) { atomic_store_explicit(&taken, false, memory_order_release); }

static int poll(void) {
    lock();
    int found = mail;
    if (found)
        mail = 0;
    unlock();
    return found;
}

void *send(void *arg) {
    mail = 7;
    return 0;
}

int main(void) {
    pthread_t sender;
    pthread_create(&sender, 0, send, 0);
    int found;
    do
        found = poll();
    while (!found);
    assert(found == 7);
    pthread_join(sender, 0);
}
