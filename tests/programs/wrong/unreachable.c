// The flag is never 2, says the programmer; the other thread says otherwise.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *set(void *arg) {
    (void)arg;
    atomic_store(&flag, 2);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    if (atomic_load(&flag) == 2)
        __builtin_unreachable();
    pthread_join(t, 0);
    return 0;
}
