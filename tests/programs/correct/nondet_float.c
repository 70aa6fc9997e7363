// Two threads add any number from 0 to 10, rounded: the sum is at most 20 all the same, and the mean lies between them.
#include <assert.h>
#include <pthread.h>

float __VERIFIER_nondet_float(void);
double __VERIFIER_nondet_double(void);
void __VERIFIER_assume(int);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static float sum;

static void *add(void *unused) {
    float number = __VERIFIER_nondet_float();
    __VERIFIER_assume(number >= 0.0f && number <= 10.0f);
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
    assert(sum >= 0.0f && sum <= 20.0f);

    double low = __VERIFIER_nondet_double(), high = __VERIFIER_nondet_double();
    __VERIFIER_assume(low >= 0.0 && low <= 1000.0 && high >= 0.0 && high <= 1000.0);
    double mean = (low + high) / 2;
    assert(mean >= 0.0 && mean <= 1000.0);
    assert(low * high <= 1e6);
    return 0;
}
