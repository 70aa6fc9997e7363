// A driver that reads from where a file is. Broken: nobody has said where that is when it is opened.
#include "task.h"
struct file {
    long position;
    int flags;
};
static _Bool is_open;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Bool open_file(struct file *file) {
    pthread_mutex_lock(&lock);
    _Bool was_open = is_open;
    is_open = 1;
    if (!BROKEN)
        file->position = 0;
    pthread_mutex_unlock(&lock);
    return !was_open;
}

static long read_from(struct file *file, long count) {
    long position = file->position;
    if (position >= 4)
        return 0;
    CLAIM(position >= 0);
    return count < 4 - position ? count : 4 - position;
}

static void *use(void *arg) {
    struct file *file = malloc(sizeof *file);
    if (open_file(file))
        CLAIM(read_from(file, 3) <= 3);
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, use, 0);
    pthread_create(&other, 0, use, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
