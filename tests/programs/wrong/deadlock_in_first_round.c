// Engines find the deadlock in one of the last rounds; it is shown in the first, and without the thread that has nothing to do
// with it.
// engines: dpor, rf, rvf, mcr
#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 4

struct account { pthread_mutex_t lock; int balance; };
struct account here = { PTHREAD_MUTEX_INITIALIZER, 100 }, there = { PTHREAD_MUTEX_INITIALIZER, 100 };
atomic_int audits;

void transfer(struct account *from, struct account *to)
{
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance -= 1;
    to->balance += 1;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

void *send(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        transfer(&here, &there);
    return 0;
}

void *send_back(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        transfer(&there, &here);
    return 0;
}

void *audit(void *arg)
{
    audits++;
    return 0;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], 0, send, 0);
    pthread_create(&threads[1], 0, send_back, 0);
    pthread_create(&threads[2], 0, audit, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
}
