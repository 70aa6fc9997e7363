// raddle: -- -m32
// Four bytes do not hold an address that is far beside its object: it could be that of another one.
static int numbers[4];

int main(void) {
    int *far = numbers + 1000000;
    return (unsigned)far == 0;
}
