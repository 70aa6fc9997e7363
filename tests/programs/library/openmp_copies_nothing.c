// raddle: -- -fopenmp
// bmc: refused
// Without copyprivate only one thread has it.
#include <assert.h>

int main(void) {
#pragma omp parallel num_threads(2)
    {
        int found = 0;
#pragma omp single
        found = 5;
        assert(found == 5);
    }
}
