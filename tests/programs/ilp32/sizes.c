// raddle: -- -m32
// bmc: refused
// Sizes and places of the data model ILP32: of numbers, pointers, fields of structs, and what wraps around.
typedef unsigned int size_t;
typedef unsigned long pthread_t;
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));
#define assert(x) ((x) ? (void)0 : __assert_fail(#x, "sizes.c", __LINE__, "main"))

struct mixed {
    char a;
    long long b;
    void *c;
    double d;
    long double e;
    short f;
};

struct linked {
    struct linked *next;
    char tag;
    struct linked *others[3];
};

static struct linked nodes[4] = {
    {&nodes[1], 'a', {&nodes[3], 0, &nodes[2]}},
    {&nodes[2], 'b', {0}},
    {&nodes[3], 'c', {0}},
    {0, 'd', {&nodes[0]}},
};
static int numbers[10];
static int *const last = &numbers[9];
static long counter;

static void *count(void *arg) {
    long *at = arg;
    *at += 0x7fffffffL;
    return (void *)*at;
}

int main(void) {
    assert(sizeof(long) == 4 && sizeof(void *) == 4 && sizeof(size_t) == 4 && sizeof(long long) == 8);
    assert(sizeof(long double) == 12 && sizeof(struct mixed) == 40 && sizeof(struct linked) == 20);
    struct mixed m = {1, 0x123456789abcLL, &m, 2.5, 3.5L, 7};
    struct mixed copy = m;
    assert((char *)&copy.b - (char *)&copy == 4 && (char *)&copy.e - (char *)&copy == 24);
    assert(copy.b == 0x123456789abcLL && copy.c == &m && copy.d == 2.5 && copy.e == 3.5L && copy.f == 7);
    assert(nodes[0].next->next->next == &nodes[3] && nodes[0].others[2]->tag == 'c' && nodes[3].others[0]->tag == 'a');
    assert(last - numbers == 9 && (char *)last - (char *)numbers == 36);
    unsigned long big = 0xffffffffUL;
    assert(big + 1 == 0 && (unsigned long long)big + 1 == 0x100000000ULL);
    assert((unsigned)(int *)-4 == 0xfffffffcu);
    int *walker = numbers;
    unsigned first = (unsigned)walker;
    for (int i = 0; i < 10; i++) {
        *walker++ = i;
    }
    assert((unsigned)walker - first == 40 && walker == numbers + 10 && walker > last && &walker[-10] == numbers);
    assert(*(int *)(first + 12) == 3);
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, count, &counter);
    pthread_join(thread, &result);
    assert((long)result == 0x7fffffffL && (unsigned long)counter + 1 == 0x80000000UL);
    return 0;
}
