// A function without a definition that no execution calls does no harm.
int mystery(int);

static volatile int never;

int main(void) { return never ? mystery(1) : 0; }
