// raddle: --no-spurious-wakeups --no-spurious-failures
// engines: dpor, rf, rvf, mcr
// All of <threads.h>.
#include <assert.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static mtx_t m, r;
static cnd_t c;
static tss_t key;
static once_flag once = ONCE_FLAG_INIT;
static thread_local int own = 5;
static int ready, inits, destroyed;

static void initialise(void) { inits++; }

static void destroy(void *value) {
    destroyed++;
    free(value);
}

static int work(void *arg) {
    call_once(&once, initialise);
    assert(own == 5);
    own = 6;
    assert(tss_get(key) == 0);
    tss_set(key, malloc(1));
    mtx_lock(&m);
    ready = 1;
    cnd_signal(&c);
    mtx_unlock(&m);
    if (arg)
        thrd_exit(-3);
    return 4;
}

int main(void) {
    thrd_t t;
    int result;
    struct timespec soon = {1, 0};
    assert(mtx_init(&m, mtx_plain) == thrd_success && mtx_init(&r, mtx_recursive | mtx_timed) == thrd_success);
    assert(cnd_init(&c) == thrd_success && tss_create(&key, destroy) == thrd_success);
    assert(thrd_create(&t, work, &m) == thrd_success);
    call_once(&once, initialise);
    assert(inits == 1);
    mtx_lock(&m);
    while (!ready)
        cnd_wait(&c, &m);
    assert(cnd_timedwait(&c, &m, &soon) == thrd_timedout);
    mtx_unlock(&m);
    assert(thrd_join(t, &result) == thrd_success && result == -3 && destroyed == 1);
    assert(mtx_lock(&r) == thrd_success && mtx_trylock(&r) == thrd_success && mtx_timedlock(&r, &soon) == thrd_success);
    mtx_unlock(&r);
    mtx_unlock(&r);
    mtx_unlock(&r);
    mtx_lock(&m);
    assert(mtx_trylock(&m) == thrd_busy && mtx_timedlock(&m, &soon) == thrd_timedout);
    mtx_unlock(&m);
    assert(own == 5 && thrd_equal(thrd_current(), thrd_current()));
    thrd_yield();
    assert(thrd_create(&t, work, 0) == thrd_success && thrd_join(t, &result) == thrd_success && result == 4);
    mtx_destroy(&m);
    cnd_destroy(&c);
    tss_delete(key);
    return 0;
}
