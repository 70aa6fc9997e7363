// Numbers out of text, kinds of characters, sorting and searching.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

struct pair {
    char key;
    int order;
};

static int compare_keys(const void *a, const void *b) {
    return ((const struct pair *)a)->key - ((const struct pair *)b)->key;
}

int main(void) {
    char *end;
    const char *text = " -12x";
    assert(atoi("42") == 42 && atoi(" -7 ") == -7 && atol("x") == 0 && atoi("+3") == 3);
    assert(strtol(text, &end, 10) == -12 && end == text + 4);
    assert(strtol("0x1fz", &end, 0) == 31 && *end == 'z');
    assert(strtol("0xz", &end, 16) == 0 && *end == 'x');
    assert(strtol("077", 0, 0) == 63 && strtol("zz", 0, 36) == 1295 && strtol("08", &end, 0) == 0 && *end == '8');
    const char *none = "none";
    assert(strtol(none, &end, 10) == 0 && end == none);
    errno = 0;
    assert(strtol("99999999999999999999", 0, 10) == LONG_MAX && errno == ERANGE);
    errno = 0;
    assert(strtol("-9223372036854775808", 0, 10) == LONG_MIN && errno == 0);
    assert(strtoul("18446744073709551615", 0, 10) == ULONG_MAX && errno == 0);
    assert(strtoul("-1", 0, 10) == ULONG_MAX);
    assert(strtod("2.5e1abc", &end) == 25.0 && *end == 'a' && atof("-0.5") == -0.5);

    assert(isalpha('a') && !isalpha('1') && isdigit('1') && isspace('\t') && isupper('A') && !isupper('a'));
    assert(ispunct('.') && isxdigit('f') && !isxdigit('g') && isalnum('z') && isprint(' ') && !isgraph(' '));
    assert(toupper('q') == 'Q' && tolower('Q') == 'q' && toupper('1') == '1' && iscntrl('\n') && isblank(' '));
    assert(abs(-3) == 3 && labs(-3L) == 3 && llabs(3) == 3);
    volatile double two = 2.0;
    assert(sqrt(two * two) == 2.0 && pow(two, 10) == 1024.0 && floor(2.5) == 2.0 && fmod(7, two) == 1.0);
    volatile float three = 9.0f;
    assert(sqrtf(three) == 3.0f && fabs(-two) == 2.0 && ceil(2.1) == 3.0);

    int numbers[] = {5, 3, 9, 1, 3, 7};
    qsort(numbers, 6, sizeof *numbers, compare);
    for (int i = 1; i < 6; i++)
        assert(numbers[i - 1] <= numbers[i]);
    int key = 7, missing = 4;
    assert(bsearch(&key, numbers, 6, sizeof *numbers, compare) == &numbers[4]);
    assert(!bsearch(&missing, numbers, 6, sizeof *numbers, compare));
    struct pair pairs[] = {{'b', 0}, {'a', 1}, {'b', 2}, {'a', 3}};
    qsort(pairs, 4, sizeof *pairs, compare_keys);
    assert(pairs[0].order == 1 && pairs[1].order == 3 && pairs[2].order == 0 && pairs[3].order == 2);
    qsort(pairs, 0, sizeof *pairs, compare_keys);
    return 0;
}
