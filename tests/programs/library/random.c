// Of a random number, what the program looks at is tried.
#include <stdlib.h>

int main(void) {
    srand(1);
    return rand() & 1;
}
