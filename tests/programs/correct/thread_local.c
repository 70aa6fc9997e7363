// Each thread has its own copy, which starts with the initial value.
#include <assert.h>
#include <pthread.h>

static _Thread_local int mine = 5;

static void *bump(void *arg) {
    (void)arg;
    mine++;
    assert(mine == 6);
    return 0;
}

int main(void) {
    pthread_t t;
    mine = 10;
    pthread_create(&t, 0, bump, 0);
    bump((mine = 5, (void *)0));
    pthread_join(t, 0);
    assert(mine == 6);
    return 0;
}
