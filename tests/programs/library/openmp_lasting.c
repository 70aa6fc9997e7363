// raddle: -- -fopenmp
// bmc: refused
// Threadprivate variables last from one region to the next, which is not modelled, and is said.
int own;
#pragma omp threadprivate(own)

int main(void) {
#pragma omp parallel num_threads(2)
    own++;
#pragma omp parallel num_threads(2)
    own++;
}
