// A function without a definition is called.
int mystery(int);

int main(void) { return mystery(1); }
