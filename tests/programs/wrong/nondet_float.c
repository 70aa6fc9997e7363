// As correct/nondet_float.c, but the two numbers 10 are forgotten.
#include <assert.h>
#include <pthread.h>

float __VERIFIER_nondet_float(void);
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
    assert(sum >= 0.0f && sum < 20.0f);
    return 0;
}
