// The flag is a plain variable.
#include <pthread.h>

static int data, flag;

static void *send(void *arg) {
    (void)arg;
    data = 42;
    flag = 1;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, send, 0);
    int result = flag ? data : 0;
    pthread_join(t, 0);
    return result;
}
