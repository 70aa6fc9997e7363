// bmc: refused
// Jumps out of nested calls, in two threads at once; back to the same place several times.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void fail(jmp_buf *back, int depth, int code) {
    int local = depth;
    int *address = &local;
    if (*address == 0)
        longjmp(*back, code);
    fail(back, depth - 1, code);
}

static void *worker(void *arg) {
    jmp_buf back;
    volatile int rounds = 0;
    int code = setjmp(back);
    if (code < 2) {
        rounds = rounds + 1;
        fail(&back, 3, code + 1);
    }
    assert(code == 2 && rounds == 2);
    pthread_mutex_lock(&lock);
    total += code;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(total == 4);
    jmp_buf back;
    switch (setjmp(back)) {
    case 0:
        longjmp(back, 0);
    case 1:
        break;
    default:
        assert(0);
    }
}
