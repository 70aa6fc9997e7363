// An atomic access across the alignment of its type.
#include <stdatomic.h>

static _Alignas(8) char bytes[16];

int main(void) {
    _Atomic int *odd = (_Atomic int *)(bytes + 2);
    atomic_store(odd, 1);
    return 0;
}
