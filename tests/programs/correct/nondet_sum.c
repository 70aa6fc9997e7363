// Two threads add any number from 1 to 999: no engine that explores executions could try them all, so `auto` asks a formula.
#include <assert.h>
#include <pthread.h>

int __VERIFIER_nondet_int(void);
void __VERIFIER_assume(int);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *add(void *unused) {
    int number = __VERIFIER_nondet_int();
    __VERIFIER_assume(number > 0 && number < 1000);
    pthread_mutex_lock(&lock);
    sum += number;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, add, 0);
    pthread_create(&second, 0, add, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(sum >= 2 && sum <= 1998);
    return 0;
}
