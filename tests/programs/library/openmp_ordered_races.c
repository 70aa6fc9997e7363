// raddle: -- -fopenmp
// bmc: refused
// What stands before the ordered part is not ordered.
int count, seen[2];

int main(void) {
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2; i++) {
        count++;
#pragma omp ordered
        seen[i] = i;
    }
}
