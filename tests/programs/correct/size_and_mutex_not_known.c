// Blocks whose size is what another thread stores, filled up to their end, under a mutex that is found at an index.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_uint size = 1;
static int *block[2];
static unsigned length[2];

static void *work(void *arg) {
    unsigned which = (unsigned)(long)arg;
    size += 2;
    unsigned mine = size;
    pthread_mutex_lock(&locks[mine & 1]);
    int *fresh = malloc(mine * sizeof(int));
    fresh[mine - 1] = 7;
    fresh[0] = 7;
    block[which] = fresh;
    length[which] = mine;
    pthread_mutex_unlock(&locks[mine & 1]);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    for (int i = 0; i < 2; i++) {
        assert(length[i] == 3 || length[i] == 5);
        assert(block[i][length[i] - 1] == 7);
        free(block[i]);
    }
    return 0;
}
