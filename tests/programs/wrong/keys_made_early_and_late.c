// One key of thread-specific data is made before there is another thread, one while there is: they are not the same.
#include <assert.h>
#include <pthread.h>

static pthread_key_t early, late;

static void destroy(void *value) {}

static void *nothing(void *arg) { return arg; }

static void *use(void *arg) {
    pthread_setspecific(early, &early);
    pthread_setspecific(late, &late);
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_key_create(&early, destroy);
    pthread_create(&first, 0, nothing, 0);
    pthread_key_create(&late, destroy);
    pthread_create(&second, 0, use, 0);
    assert(early == late);
    return 0;
}
