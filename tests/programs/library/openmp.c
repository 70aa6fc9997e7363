// raddle: -- -fopenmp
// engines: dpor, rf, rvf, mcr
// bmc: refused
// Loops, reductions, critical sections, barriers, single, tasks: no race.
#include <assert.h>

int a[4], hits, once, tasks;

int main(void) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 4; i++) {
        sum += i;
        a[i] = i;
    }
    assert(sum == 6);
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        hits++;
#pragma omp barrier
#pragma omp single
        once = hits;
    }
    assert(once == 2);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        {
#pragma omp atomic
            tasks++;
        }
#pragma omp atomic
        tasks++;
#pragma omp taskwait
        assert(tasks == 2);
    }
}
