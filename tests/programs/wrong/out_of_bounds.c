// Both threads reserve a place in an array that has room for one.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int used;
int places[1];

static void *reserve(void *arg) {
    (void)arg;
    int mine = atomic_fetch_add(&used, 1);
    places[mine] = 1;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, reserve, 0);
    reserve(0);
    pthread_join(t, 0);
    return 0;
}
