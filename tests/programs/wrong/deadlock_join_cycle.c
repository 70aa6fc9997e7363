// Two threads join each other.
#include <pthread.h>

static pthread_t main_thread;

static void *join_main(void *arg) {
    (void)arg;
    pthread_join(main_thread, 0);
    return 0;
}

int main(void) {
    pthread_t t;
    main_thread = pthread_self();
    pthread_create(&t, 0, join_main, 0);
    pthread_join(t, 0);
    return 0;
}
