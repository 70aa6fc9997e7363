// A string literal is written to.
int main(void) {
    char *text = "abc";
    text[0] = 'x';
    return 0;
}
