// A mutex made of a futex: nobody is left sleeping, and the counter is right.
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

// 0 free, 1 taken, 2 taken and somebody sleeps.
static atomic_int word;
static int counter;

static void lock(void) {
    int expected = 0;
    if (atomic_compare_exchange_strong(&word, &expected, 1))
        return;
    while (atomic_exchange(&word, 2) != 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}

static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void *work(void *arg) {
    lock();
    counter++;
    unlock();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    assert(counter == 2);
    assert(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0) == 0);
    return 0;
}
