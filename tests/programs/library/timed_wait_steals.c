// The only signal may go to the waiter with a deadline: the other one then waits for good.
#include <pthread.h>

extern void __VERIFIER_assume(int);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waiting;

static void *patient(void *arg) {
    pthread_mutex_lock(&m);
    waiting++;
    pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *impatient(void *arg) {
    struct timespec soon = {1, 0};
    pthread_mutex_lock(&m);
    waiting++;
    pthread_cond_timedwait(&c, &m, &soon);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, patient, 0);
    pthread_create(&b, 0, impatient, 0);
    pthread_mutex_lock(&m);
    __VERIFIER_assume(waiting == 2);
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
