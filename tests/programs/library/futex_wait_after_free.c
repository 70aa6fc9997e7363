// Whoever waits reads the word, so it must be there.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *await(void *event) {
    syscall(SYS_futex, event, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    return 0;
}

int main(void) {
    atomic_int *event = malloc(sizeof *event);
    atomic_init(event, 0);
    pthread_t t;
    pthread_create(&t, 0, await, event);
    atomic_store(event, 1);
    syscall(SYS_futex, event, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    free(event);
    pthread_join(t, 0);
    return 0;
}
