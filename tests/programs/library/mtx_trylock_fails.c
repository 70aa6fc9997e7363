// bmc: refused
// C11 lets an attempt fail although nobody has the mutex.
#include <assert.h>
#include <threads.h>

mtx_t mutex;
int done;

int work(void *unused) {
    (void)unused;
    if (mtx_trylock(&mutex) == thrd_success) {
        done = 1;
        mtx_unlock(&mutex);
    }
    return 0;
}

int main(void) {
    thrd_t thread;
    mtx_init(&mutex, mtx_plain);
    thrd_create(&thread, work, 0);
    thrd_join(thread, 0);
    assert(done == 1);
}
