// Random numbers are refused: any sequence would be one of many.
#include <stdlib.h>

int main(void) {
    srand(1);
    return rand() & 1;
}
