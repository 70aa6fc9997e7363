// raddle: -- -m32
// What is known in 64 bits only is refused by name.
extern int pipe(int *);

int main(void) {
    int ends[2];
    return pipe(ends);
}
