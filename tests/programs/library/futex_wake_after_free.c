// Whoever wakes names a queue by an address, and reads nothing there: the word may be gone by then, or never have been.
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long wake(void *word) { return syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0); }

// The owner of the event frees it as soon as it is set, be it before or after the other thread wakes it.
static void *set(void *event) {
    atomic_store((atomic_int *)event, 1);
    wake(event);
    return 0;
}

int main(void) {
    atomic_int *event = malloc(sizeof *event);
    atomic_init(event, 0);
    pthread_t t;
    pthread_create(&t, 0, set, event);
    while (atomic_load(event) == 0)
        syscall(SYS_futex, event, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    free(event);
    pthread_join(t, 0);
    assert(wake(0) == 0);
    assert(wake(event) == 0);
    assert(wake((void *)16) == 0);
    return 0;
}
