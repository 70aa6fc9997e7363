// raddle: --output -- -m32
// Variadic arguments of i386: a list is a pointer, and every argument takes a multiple of four bytes.
typedef unsigned int size_t;
typedef __builtin_va_list va_list;
typedef unsigned long pthread_t;
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
extern int printf(const char *, ...);
extern int vsnprintf(char *, size_t, const char *, va_list);
extern int snprintf(char *, size_t, const char *, ...);
extern int strcmp(const char *, const char *);
extern long strtol(const char *, char **, int);
extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));
#define assert(x) ((x) ? (void)0 : __assert_fail(#x, "variadic.c", __LINE__, "f"))

struct pair {
    short a;
    long long b;
};

static int shared = 5;

static long long sum(const char *kinds, ...) {
    long long total = 0;
    va_list list, copy;
    __builtin_va_start(list, kinds);
    __builtin_va_copy(copy, list);
    assert(sizeof list == 4);
    for (; *kinds; kinds++) {
        switch (*kinds) {
        case 'i': total += __builtin_va_arg(list, int); break;
        case 'l': total += __builtin_va_arg(list, long); break;
        case 'L': total += __builtin_va_arg(list, long long); break;
        case 'd': total += (long long)__builtin_va_arg(list, double); break;
        case 'p': total += *__builtin_va_arg(list, int *); break;
        case 's': {
            struct pair pair = __builtin_va_arg(list, struct pair);
            total += pair.a + pair.b;
            break;
        }
        }
    }
    assert(__builtin_va_arg(copy, int) == 1);
    __builtin_va_end(copy);
    __builtin_va_end(list);
    return total;
}

static void format(char *to, size_t size, const char *form, ...) {
    va_list list;
    __builtin_va_start(list, form);
    vsnprintf(to, size, form, list);
    __builtin_va_end(list);
}

static void *run(void *arg) {
    struct pair pair = {3, 0x100000000LL};
    assert(sum("iLdplsi", 1, 0x200000000LL, 2.5, &shared, 4L, pair, 7) == 0x300000000LL + 1 + 2 + 5 + 4 + 3 + 7);
    return arg;
}

int main(void) {
    char text[64];
    format(text, sizeof text, "%d %ld %lld %s %.1f %zu %c", -1, -2L, -3000000000LL, "four", 5.5, sizeof(long), 'x');
    assert(strcmp(text, "-1 -2 -3000000000 four 5.5 4 x") == 0);
    snprintf(text, sizeof text, "%lu %lx", -1L, -1L);
    assert(strcmp(text, "4294967295 ffffffff") == 0);
    char *end;
    assert(strtol("99999999999 ", &end, 10) == 0x7fffffffL && *end == ' ');
    printf("%ld %s\n", -1L, text);
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return 0;
}
