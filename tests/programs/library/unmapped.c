// bmc: refused
// Memory that was given back to the system.
#include <pthread.h>
#include <sys/mman.h>

int *shared;

void *use(void *unused) {
    (void)unused;
    shared[0] = 1;
    return 0;
}

int main(void) {
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    pthread_create(&thread, 0, use, 0);
    munmap(shared, 4096);
    pthread_join(thread, 0);
}
