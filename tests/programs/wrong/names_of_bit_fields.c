// Bit-fields that share bytes are one memory location: they are read and written together, and named together.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum mode { OFF, SLOW, FAST };

struct flags {
    unsigned kind : 3, count : 5;
    signed level : 10;
    int plain;
    enum mode mode : 2;
    bool done : 1;
};

struct flags flags;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *set(void *arg)
{
    pthread_mutex_lock(&lock);
    flags.count = 9;
    flags.level = -2;
    flags.mode = FAST;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    pthread_mutex_lock(&lock);
    flags.kind = 2;
    flags.plain = 1;
    flags.done = true;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    int level = flags.level;
    assert(level != -2);
}
