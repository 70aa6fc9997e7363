// raddle: -- -m32
// An index far out of bounds is noticed where it would be the address of another variable.
typedef unsigned long pthread_t;
static int small[4], other[100000];

int main(void) {
    other[1] = 1;
    int *at = small;
    int distance = (int)((unsigned)&other[1] - (unsigned)small) / 4;
    at += distance;
    return *at;
}
