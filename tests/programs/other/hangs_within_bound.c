// raddle: --unroll 3
// Every execution is cut: that nothing went wrong till then says nothing.
int main(void) {
    for (;;)
        ;
}
