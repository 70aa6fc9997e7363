// Everything that is out of reach is told at once: where executions come to, and what is called behind.
// A thread that waits for one that cannot be run any further is in no deadlock.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

void open_valve(int);
void close_valve(void);
int pressure(void);

static atomic_int state;
static sem_t done;

static void *valve(void *arg) {
    if (state == 1) {
        open_valve(1);
        close_valve();
    } else if (state == 2) {
        open_valve(2);
    }
    sem_post(&done);
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&done, 0, 0);
    pthread_create(&thread, 0, valve, 0);
    state = 1;
    state = 2;
    sem_wait(&done);
    pthread_join(thread, 0);
    return pressure();
}
