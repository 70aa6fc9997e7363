// bmc: refused
// Standard input is at its end, there are no files, and memory comes from the system.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int *shared;

void *add(void *unused) {
    (void)unused;
    shared[1] = 1;
    return 0;
}

int main(void) {
    int number = 7;
    char line[8];
    assert(scanf("%d", &number) == EOF && number == 7);
    assert(getchar() == EOF && fgets(line, sizeof line, stdin) == NULL);
    assert(fopen("missing", "r") == NULL);
    assert(sysconf(_SC_PAGESIZE) == 4096);
    assert(pthread_atfork(0, 0, 0) == 0);
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(shared != MAP_FAILED && shared[0] == 0);
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    shared[0] = 1;
    pthread_join(thread, 0);
    assert(shared[0] + shared[1] == 2);
    assert(munmap(shared, 4096) == 0);
}
