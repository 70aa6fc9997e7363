// bmc: refused
// engines: dpor, rf, rvf, mcr
// Files on a disk that is empty at first.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *writer(void *arg) {
    FILE *out = fopen("log.txt", "a");
    assert(out);
    fprintf(out, "line %d\n", *(int *)arg);
    assert(fclose(out) == 0);
    return NULL;
}

int main(void) {
    assert(fopen("log.txt", "r") == NULL && errno == ENOENT);
    int numbers[2] = {1, 2};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, writer, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    FILE *in = fopen("log.txt", "r");
    char line[16];
    assert(fgets(line, sizeof line, in) && !strncmp(line, "line ", 5) && line[6] == '\n');
    assert(fgetc(in) == 'l' && !feof(in));
    assert(fread(line, 1, sizeof line, in) == 6 && feof(in));
    rewind(in);
    assert(fgetc(in) == 'l' && ftell(in) == 1);
    fclose(in);

    int file = open("log.txt", O_RDWR | O_TRUNC);
    assert(file >= 3 && write(file, "abc", 3) == 3);
    assert(lseek(file, 1, SEEK_SET) == 1 && read(file, line, 16) == 2 && line[1] == 'c');
    assert(close(file) == 0 && read(file, line, 1) == -1 && errno == EBADF);
    assert(open("log.txt", O_CREAT | O_EXCL | O_WRONLY, 0600) == -1 && errno == EEXIST);
    assert(unlink("log.txt") == 0 && unlink("log.txt") == -1);
    assert(open("log.txt", O_RDONLY) == -1);
}
