// Two philosophers, two forks, each takes the left one first. Raddle finds the deadlock:
//   raddle check examples/philosophers.c
#include <pthread.h>

static pthread_mutex_t forks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void dine(int left, int right) {
    pthread_mutex_lock(&forks[left]);
    pthread_mutex_lock(&forks[right]);
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
}

static void *plato(void *arg) {
    (void)arg;
    dine(0, 1);
    return 0;
}

static void *hypatia(void *arg) {
    (void)arg;
    dine(1, 0);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, plato, 0);
    pthread_create(&b, 0, hypatia, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
