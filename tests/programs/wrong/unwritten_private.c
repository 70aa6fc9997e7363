// A variable that nobody has written and no other thread can see: one of its values is wrong.
// raddle: --check assert,memory
#include <assert.h>
#include <pthread.h>

static int chosen(int key) {
    int own;
    if (key == 3)
        own = 0;
    return own;
}

static void *look(void *arg) {
    chosen(1);
    assert(chosen(2) != 0x51EF);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, look, 0);
    assert(chosen(3) == 0);
    pthread_join(thread, 0);
    return 0;
}
