// engines: dpor, rf, rvf, mcr
// raddle: --volatile-is-atomic
// Volatile accesses count as relaxed atomics: no race on the flag, but it orders nothing.
#include <pthread.h>

volatile int ready;
int message;

void *send(void *unused) {
    (void)unused;
    message = 1;
    ready = 1;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, send, 0);
    while (!ready) {
    }
    int got = message;
    pthread_join(thread, 0);
    return got - 1;
}
