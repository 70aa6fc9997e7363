// raddle: -- -fopenmp
// bmc: refused
// Without the barrier behind the loop, one thread reads what another has not written yet.
int a[2], b[2];

int main(void) {
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < 2; i++) {
            a[i] = i + 1;
        }
#pragma omp for
        for (int i = 0; i < 2; i++) {
            b[i] = a[1 - i];
        }
    }
}
