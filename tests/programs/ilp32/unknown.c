// raddle: -- -m32
// What is known in 64 bits only is refused by name.
struct stream;
extern struct stream *fopen(const char *, const char *);

int main(void) {
    return fopen("a", "r") != 0;
}
