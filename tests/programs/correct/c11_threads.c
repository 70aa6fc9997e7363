// The threads of C11: mutex, and results by thrd_join.
#include <assert.h>
#include <threads.h>

static mtx_t m;
static int counter;

static int add(void *arg) {
    mtx_lock(&m);
    counter += *(int *)arg;
    mtx_unlock(&m);
    return 7;
}

int main(void) {
    thrd_t t;
    int five = 5, result = 0;
    assert(mtx_init(&m, mtx_plain) == thrd_success);
    assert(thrd_create(&t, add, &five) == thrd_success);
    assert(thrd_join(t, &result) == thrd_success);
    assert(result == 7 && counter == 5);
    mtx_destroy(&m);
    return 0;
}
