// A variable that one path does not write. It is passed on and returned before anything depends on it.
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

struct range {
    long first, last;
};

static struct range choose(_Bool all) {
    struct range range;
    range.first = 0;
    if (all)
        range.last = 9;
    return range;
}

static long length(struct range range) { return range.last - range.first; }

static void *work(void *arg) {
    (void)arg;
    struct range range = choose(__VERIFIER_nondet_bool());
    return (void *)length(range);
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}
