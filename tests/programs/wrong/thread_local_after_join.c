// A pointer to a thread-local array is used after the thread was joined whose it was.
#include <pthread.h>

struct log {
    long count;
    int entries[3];
};
static _Thread_local struct log mine;

static void *work(void *arg) {
    (void)arg;
    mine.count = 1;
    return &mine.entries[1];
}

int main(void) {
    pthread_t thread;
    void *entry;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, &entry);
    return *(int *)entry;
}
