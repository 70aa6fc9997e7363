// raddle: -- -fopenmp
// engines: dpor, rf, rvf, mcr
// bmc: refused
// Whoever does the single part gives what it found to the others; each thread has a threadprivate variable of its own.
#include <assert.h>

int own = 1;
#pragma omp threadprivate(own)

int main(void) {
    own = 3;
#pragma omp parallel num_threads(2) copyin(own)
    {
        int found = 0;
#pragma omp single copyprivate(found)
        found = 5;
        assert(found == 5);
        own++;
        assert(own == 4);
    }
}
