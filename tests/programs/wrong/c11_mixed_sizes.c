// Under the memory model of the language, a word is read whose bytes were written one by one, before something goes wrong.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

union text {
    char letters[8];
    uint64_t word;
};

static atomic_int a, b;

static void *writer(void *arg) {
    atomic_store_explicit(&a, 1, memory_order_relaxed);
    atomic_store_explicit(&b, 1, memory_order_relaxed);
    return arg;
}

static union text text;

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    int seen_b = atomic_load_explicit(&b, memory_order_relaxed);
    int seen_a = atomic_load_explicit(&a, memory_order_relaxed);
    for (int i = 0; i < 4; i++)
        text.letters[i] = (char)('a' + i);
    assert(text.word != 0);
    assert(seen_a >= seen_b);
    pthread_join(thread, 0);
    return 0;
}
