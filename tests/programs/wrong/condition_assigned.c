// A condition variable is made anew while another thread uses it: a data race, whatever comes of it.
#include <pthread.h>

pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *waker(void *arg) {
    pthread_cond_signal(&c);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, waker, 0);
    c = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pthread_join(thread, 0);
}
