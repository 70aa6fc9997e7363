// sortnet: N threads sort 2N numbers by Batcher's odd-even merge network. The comparators are dealt out to the threads
// in turn; each wire has a generation that says how many comparators it has passed, and the next one waits for it.
//
// Awaiting for Godot (FMCAD 2022), table I: with awaits there is one execution, whatever N is.
// With ASSUME, waits are assumptions.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#ifndef N
#define N 2
#endif
#define WIRES (2 * N)
#ifdef ASSUME
#define AWAIT(condition) __VERIFIER_assume(condition)
#else
#define AWAIT(condition) while (!(condition)) {}
#endif

static int x[WIRES];
static atomic_int generation[WIRES];

static void await_generation(int wire, int wanted) {
    AWAIT(atomic_load(&generation[wire]) == wanted);
}

static void compare(int low, int high, int low_generation, int high_generation) {
    await_generation(low, low_generation);
    await_generation(high, high_generation);
    if (x[low] > x[high]) {
        int swapped = x[low];
        x[low] = x[high];
        x[high] = swapped;
    }
    atomic_store(&generation[low], low_generation + 1);
    atomic_store(&generation[high], high_generation + 1);
}

static void *sort(void *arg) {
    int me = (int)(long)arg;
    int passed[WIRES] = {0};
    int comparator = 0;
    for (int p = 1; p < WIRES; p *= 2) {
        for (int k = p; k >= 1; k /= 2) {
            for (int low = k % p; low + k < WIRES; low++) {
                int high = low + k;
                if ((low - k % p) / k % 2 != 0 || low / (2 * p) != high / (2 * p)) {
                    continue;
                }
                if (comparator % N == me) {
                    compare(low, high, passed[low], passed[high]);
                }
                comparator++;
                passed[low]++;
                passed[high]++;
            }
        }
    }
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < WIRES; i++) {
        x[i] = WIRES - i;
    }
    for (long i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, sort, (void *)i);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], 0);
    }
    for (int i = 0; i < WIRES - 1; i++) {
        assert(x[i] <= x[i + 1]);
    }
    return 0;
}
