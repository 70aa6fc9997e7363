// The report says which part of the condition is false, and what was compared.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int a, b;
static int storage;
static int *_Atomic where;

static void *writer(void *arg) {
    (void)arg;
    atomic_store(&a, 1);
    atomic_store(&b, -3);
    atomic_store(&where, &storage);
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    int seen = atomic_load(&a), sum = seen + atomic_load(&b);
    int *at = atomic_load(&where);
    pthread_join(t, NULL);
    assert(seen <= 1 && sum > -3 + seen && at != &storage);
    return 0;
}
