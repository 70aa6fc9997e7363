// raddle: -- -fopenmp
// bmc: refused
// Chunks that go to whoever asks first, and sections.
#include <assert.h>

int a[3], b[2];

int main(void) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 3; i++) {
        a[i] = i + 1;
    }
    assert(a[0] == 1 && a[1] == 2 && a[2] == 3);
#pragma omp parallel sections
    {
#pragma omp section
        b[0] = 1;
#pragma omp section
        b[1] = 1;
    }
    assert(b[0] + b[1] == 2);
}
