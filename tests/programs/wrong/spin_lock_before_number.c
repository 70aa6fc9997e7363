// What lies behind a spin lock does not say of which kind it is: it has none.
#include <pthread.h>

static struct {
    pthread_spinlock_t lock;
    int numbers[4];
} s = {0, {0, 0, 0, 1}};

static void *twice(void *arg) {
    pthread_spin_lock(&s.lock);
    pthread_spin_lock(&s.lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, twice, 0);
    pthread_join(t, 0);
    return 0;
}
