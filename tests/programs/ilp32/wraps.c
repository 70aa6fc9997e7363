// raddle: --check overflow -- -m32
// A `long` of 32 bits overflows where one of 64 does not.
typedef unsigned long pthread_t;
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
static long total = 0x40000000L;

static void *twice(void *arg) {
    total += total;
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, twice, 0);
    pthread_join(thread, 0);
    return 0;
}
