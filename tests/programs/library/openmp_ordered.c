// raddle: -- -fopenmp
// engines: dpor, rf, rvf, mcr
// bmc: refused
// The ordered parts of iterations come one after the other, whichever thread does which; iterations without one take their turn as well.
#include <assert.h>

int by_chunks[4], by_whoever[3], count, others;

int main(void) {
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 4; i++) {
        int square = i * i;
#pragma omp ordered
        by_chunks[count++] = square;
    }
    for (int i = 0; i < 4; i++)
        assert(by_chunks[i] == i * i);
#pragma omp parallel for ordered schedule(dynamic) num_threads(2)
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            continue;
#pragma omp ordered
        by_whoever[others++] = i;
    }
    assert(others == 2 && by_whoever[0] == 0 && by_whoever[1] == 2);
}
