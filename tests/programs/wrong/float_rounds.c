// A sum of `float`s depends on the order of its terms, and so on who comes first.
#include <assert.h>
#include <pthread.h>

float __VERIFIER_nondet_float(void);
void __VERIFIER_assume(int);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static float sum = 1.0f;
static float terms[2];

static void *add(void *term) {
    pthread_mutex_lock(&lock);
    sum += *(float *)term;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t first, second;
    for (int i = 0; i < 2; i++) {
        terms[i] = __VERIFIER_nondet_float();
        __VERIFIER_assume(terms[i] >= 1.0f && terms[i] <= 100.0f);
    }
    float expected = 1.0f + terms[0] + terms[1];
    pthread_create(&first, 0, add, &terms[0]);
    pthread_create(&second, 0, add, &terms[1]);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(sum == expected);
    return 0;
}
