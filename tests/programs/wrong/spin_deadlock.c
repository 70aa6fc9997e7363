// Two spin locks, taken in opposite order: a deadlock like any other.
// engines: dpor, rf, rvf, mcr
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag a = ATOMIC_FLAG_INIT, b = ATOMIC_FLAG_INIT;
static int balance;

static void lock(atomic_flag *flag) {
    while (atomic_flag_test_and_set(flag)) {
    }
}

static void *forwards(void *arg) {
    lock(&a);
    lock(&b);
    balance++;
    atomic_flag_clear(&b);
    atomic_flag_clear(&a);
    return arg;
}

static void *backwards(void *arg) {
    lock(&b);
    lock(&a);
    balance--;
    atomic_flag_clear(&a);
    atomic_flag_clear(&b);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, forwards, 0);
    pthread_create(&threads[1], 0, backwards, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
