// `free` of a pointer into a block.
#include <stdlib.h>

int main(void) {
    int *numbers = malloc(4 * sizeof *numbers);
    free(numbers + 1);
    return 0;
}
