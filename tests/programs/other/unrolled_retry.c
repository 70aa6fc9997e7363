// raddle: --unroll 2
// A loop that counts its tries: every round makes a difference, and counts.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;
static int data;

static void *set(void *arg) {
    (void)arg;
    data = 1;
    atomic_store(&flag, 1);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    unsigned tries = 0;
    while (!atomic_load(&flag)) {
        tries++;
    }
    assert(data == 1);
    assert(tries < 100);
    pthread_join(t, 0);
    return 0;
}
