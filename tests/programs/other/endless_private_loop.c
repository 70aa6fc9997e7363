// raddle: --unroll 3
// A loop that never ends by itself is cut where the user says.
int main(void) {
    for (unsigned i = 0;; i++) {
    }
}
