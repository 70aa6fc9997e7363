// raddle: -- -fopenmp
// bmc: refused
// The sum is nobody's own.
int sum;

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 4; i++) {
        sum += i;
    }
    return sum;
}
