// `free` of a variable.
#include <stdlib.h>

static int number;

int main(void) {
    void *pointer = &number;
    free(pointer);
    return 0;
}
