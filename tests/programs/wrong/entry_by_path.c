// Which function the thread runs depends on the execution: the report names the one that it ran.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int late;
static void *harmless(void *p) { int here = 1; late = here; return p; }
static void *harmful(void *p) { assert(!late); return p; }
static void *setter(void *p) { late = 1; return p; }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, setter, 0);
    if (late) pthread_create(&u, 0, harmful, 0);
    else pthread_create(&u, 0, harmless, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
