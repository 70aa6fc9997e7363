// What a field of a block from `malloc` holds decides, and nobody has written it.
#include <pthread.h>
#include <stdlib.h>

struct file {
    char *buffer;
    int position;
};

static struct file *file;

static void *rewind_file(void *arg) {
    (void)arg;
    if (file->position > 0)
        file->position = 0;
    return 0;
}

int main(void) {
    pthread_t t;
    file = malloc(sizeof *file);
    file->buffer = 0;
    pthread_create(&t, 0, rewind_file, 0);
    pthread_join(t, 0);
    free(file);
    return 0;
}
