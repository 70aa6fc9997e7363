// What happens depends on memory that nobody has written. Nobody asks for that, but zeroes are not all that it may hold.
// raddle: --check assert,memory
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct file {
    int position;
    int size;
};

static void *seek(void *arg) {
    struct file *file = arg;
    assert(file->position <= file->size);
    return 0;
}

int main(void) {
    struct file *file = malloc(sizeof *file);
    file->size = 1;
    pthread_t thread;
    pthread_create(&thread, 0, seek, file);
    pthread_join(thread, 0);
    free(file);
}
