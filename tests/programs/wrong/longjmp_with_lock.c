// bmc: refused
// The jump leaves the critical section, and the lock stays taken.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void change(jmp_buf *back) {
    pthread_mutex_lock(&lock);
    if (value++ > 0)
        longjmp(*back, 1);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    jmp_buf back;
    if (setjmp(back) == 0)
        change(&back);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}
