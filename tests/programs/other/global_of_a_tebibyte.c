// A variable that no memory has room for is refused.
static char room[1L << 40];

int main(void) {
    room[5] = 1;
    return room[5] - 1;
}
