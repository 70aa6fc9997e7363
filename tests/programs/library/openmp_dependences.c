// raddle: -- -fopenmp
// engines: dpor, rf, rvf, mcr
// bmc: refused
// Tasks wait for those before them that write what they read, or read what they write.
#include <assert.h>

int x, y, z;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out : x)
        x = 1;
#pragma omp task depend(in : x)
        y = x + 1;
#pragma omp task depend(in : x) depend(out : z)
        z = x + 2;
#pragma omp task depend(inout : x, z) if (0)
        x += z;
#pragma omp taskwait
        assert(x == 4 && y == 2 && z == 3);
    }
}
