// raddle: -- -Wno-format
// Formats of printf, written to memory and read back.
#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char shared[64];

static int collect(char *to, size_t room, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int len = vsnprintf(to, room, format, list);
    va_end(list);
    return len;
}

static void report(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
}

#define GIVES(expected, ...)                                                                                           \
    do {                                                                                                               \
        char text[80];                                                                                                 \
        int len = snprintf(text, sizeof text, __VA_ARGS__);                                                            \
        assert(strcmp(text, expected) == 0 && len == (int)strlen(expected));                                           \
    } while (0)

int main(void) {
    GIVES("plain 100%", "plain 100%%");
    GIVES("-1 4294967295 ff FF 17", "%d %u %x %X %o", -1, -1, 255, 255, 15);
    GIVES("-1 18446744073709551615", "%ld %lu", -1L, -1L);
    GIVES("-1 255 -1 65535", "%hhd %hhu %hd %hu", -1, -1, -1, -1);
    GIVES("7 -7 9", "%zu %td %jd", (size_t)7, (ptrdiff_t)-7, (intmax_t)9);
    GIVES("[   42][42   ][00042][+42][ 42]", "[%5d][%-5d][%05d][%+d][% d]", 42, 42, 42, 42, 42);
    GIVES("[  007][0x2a][052]", "[%5.3d][%#x][%#o]", 7, 42, 42);
    GIVES("[   42][42   ]", "[%*d][%*d]", 5, 42, -5, 42);
    GIVES("[wa][warp][  warp][warp  ]", "[%.2s][%s][%6s][%-6s]", "warp", "warp", "warp", "warp");
    GIVES("[w][  w]", "[%c][%3c]", 'w', 'w');
    GIVES("3.141593 3.14 3", "%f %.2f %.0f", 3.14159265, 3.14159265, 3.14159265);
    GIVES("1.500000e+03 1.5E-05", "%e %.1E", 1500.0, 0.000015);
    GIVES("0.0001 1e-05 100000 1e+06 0.5", "%g %g %g %g %g", 0.0001, 0.00001, 1e5, 1e6, 0.5);
    GIVES("0x1.8p+1 0x1.999999999999ap-4", "%a %a", 3.0, 0.1);
    GIVES("   -1.50|-1.50   |-0001.50", "%8.2f|%-8.2f|%08.2f", -1.5, -1.5, -1.5);
    GIVES("1.250000 7", "%Lf %d", 1.25L, 7);
    GIVES("(nil)", "%p", (void *)0);
    int count;
    char *unused = shared;
    sprintf(unused, "abc%ndef", &count);
    assert(count == 3 && strcmp(shared, "abcdef") == 0);
    char small[4];
    assert(snprintf(small, sizeof small, "%d", 123456) == 6 && strcmp(small, "123") == 0);
    assert(snprintf(0, 0, "%d", 123456) == 6);
    assert(collect(shared, sizeof shared, "%d-%s-%.1f-%c-%ld", 1, "two", 3.0, '4', 5L) == 13);
    assert(strcmp(shared, "1-two-3.0-4-5") == 0);
    report("%s\n", "to standard error");
    fprintf(stdout, "%d\n", 1);
    assert(stdout && stderr && stdout != stderr);
    puts("a line");
    fputs("text", stdout);
    putchar('c');
    fputc('\n', stdout);
    fwrite("bytes\n", 1, 6, stdout);
    fflush(stdout);
    perror("perror");
    return 0;
}
