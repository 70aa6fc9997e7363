// Recursion with private variables, in two threads.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static intptr_t fibonacci(intptr_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static void *worker(void *arg) { return (void *)fibonacci((intptr_t)arg); }

int main(void) {
    pthread_t t;
    void *result;
    pthread_create(&t, 0, worker, (void *)7);
    intptr_t own = fibonacci(8);
    pthread_join(t, &result);
    assert(own == 21 && (intptr_t)result == 13);
    return 0;
}
