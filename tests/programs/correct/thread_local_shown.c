// engines: dpor, rf, rvf, mcr, graph
// Others use a thread-local variable as long as its thread is there, and so does the destructor of a key.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Thread_local int mine = 1;
static int *_Atomic shown;
static atomic_int done;
static pthread_key_t key;

static void last(void *arg) {
    int *own = arg;
    assert(*own == 2 && own == &mine);
    *own = 3;
}

static void *work(void *arg) {
    (void)arg;
    pthread_setspecific(key, &mine);
    shown = &mine;
    while (!done)
        ;
    assert(mine == 2);
    return 0;
}

int main(void) {
    pthread_t thread;
    int *found;
    pthread_key_create(&key, last);
    pthread_create(&thread, 0, work, 0);
    while (!(found = shown))
        ;
    *found = 2;
    done = 1;
    pthread_join(thread, 0);
    assert(mine == 1);
    return 0;
}
