// A long execution is folded to what threads do to each other.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int table[2];
static int *mine;

static void *count(void *arg) {
    int index = *(int *)arg;
    for (int i = 0; i < 10; i++) {
        int seen = atomic_load(&table[index]);
        atomic_store(&table[index], seen + 1);
    }
    return NULL;
}

int main(void) {
    pthread_t t;
    static int index = 0;
    mine = malloc(10 * sizeof *mine);
    for (int i = 0; i < 10; i++)
        mine[i] = table[1];
    pthread_create(&t, NULL, count, &index);
    int seen = atomic_load(&table[0]);
    atomic_store(&table[1], mine[0]);
    free(mine);
    pthread_join(t, NULL);
    assert(seen < 3);
    return 0;
}
