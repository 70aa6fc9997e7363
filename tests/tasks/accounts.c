// Transfers between accounts that are not known, with a mutex for each account. Broken: only one of the two is locked.
#include "task.h"
enum { ACCOUNTS = 3, THREADS = 2 };
static pthread_mutex_t locks[ACCOUNTS];
static int balances[ACCOUNTS] = {10, 10, 10};

static void *transfer(void *arg) {
    int from = __VERIFIER_nondet_int(), to = __VERIFIER_nondet_int();
    __VERIFIER_assume(0 <= from && from < ACCOUNTS && 0 <= to && to < ACCOUNTS && from != to);
    int first = from < to ? from : to, second = from < to ? to : from;
    pthread_mutex_lock(&locks[first]);
    if (!BROKEN)
        pthread_mutex_lock(&locks[second]);
    balances[from] -= 5;
    balances[to] += 5;
    if (!BROKEN)
        pthread_mutex_unlock(&locks[second]);
    pthread_mutex_unlock(&locks[first]);
    return arg;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < ACCOUNTS; i++)
        pthread_mutex_init(&locks[i], 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, transfer, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    CLAIM(balances[0] + balances[1] + balances[2] == 10 * ACCOUNTS);
    return 0;
}
