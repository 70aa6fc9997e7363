// raddle: -- -fopenmp
// bmc: refused
// The second task says that it depends on something else.
int x, y;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out : x)
        x = 1;
#pragma omp task depend(in : y)
        y = x + 1;
    }
}
