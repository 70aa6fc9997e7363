// A semaphore is cleared with memset while another thread posts to it.
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

sem_t semaphore;

static void *poster(void *arg) {
    sem_post(&semaphore);
    return arg;
}

int main(void) {
    sem_init(&semaphore, 0, 1);
    pthread_t thread;
    pthread_create(&thread, 0, poster, 0);
    memset(&semaphore, 0, sizeof semaphore);
    pthread_join(thread, 0);
}
