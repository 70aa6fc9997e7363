// Numbers and words out of text.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int parsed;

static void *work(void *arg) {
    int rank = -1;
    assert(sscanf(arg, "worker-%d", &rank) == 1);
    parsed = rank;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, "worker-7");
    pthread_join(t, 0);
    assert(parsed == 7);

    int a, b, end;
    unsigned hex;
    char word[8], rest[8], one;
    double ratio;
    float half;
    long wide;
    short small = 0;
    assert(sscanf(" 12 ,-3", "%d ,%i", &a, &b) == 2 && a == 12 && b == -3);
    assert(sscanf("0x1F abc", "%x %7s", &hex, word) == 2 && hex == 31 && !strcmp(word, "abc"));
    assert(sscanf("1.5e2 0.5", "%lf%f", &ratio, &half) == 2 && ratio == 150 && half == 0.5f);
    assert(sscanf("key=value!", "%[a-z]=%[^!]%c", word, rest, &one) == 3);
    assert(!strcmp(word, "key") && !strcmp(rest, "value") && one == '!');
    assert(sscanf("12345 6", "%3hd%ld%n", &small, &wide, &end) == 2 && small == 123 && wide == 45 && end == 5);
    assert(sscanf("7 8 9", "%*d %d", &a) == 1 && a == 8);
    assert(sscanf("50%", "%d%%", &a) == 1 && a == 50);
    assert(sscanf("x", "%d", &a) == 0 && a == 50);
    assert(sscanf("", "%d", &a) == EOF && sscanf("  ", "%d", &a) == EOF);
}
