// bmc: refused
// engines: dpor, rf, rvf, mcr
// Two threads read a number from a file, add one and write it back.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static void *count(void *arg) {
    char digit = '0';
    int file = open("count", O_RDWR | O_CREAT, 0600);
    read(file, &digit, 1);
    digit++;
    lseek(file, 0, SEEK_SET);
    write(file, &digit, 1);
    close(file);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    char digit;
    int file = open("count", O_RDONLY);
    assert(read(file, &digit, 1) == 1 && digit == '2');
}
