// Addresses of elements that an array has, and of those just beside it; two numbers that are copied at once are no address.
// raddle: --full
#include <assert.h>
#include <pthread.h>
#include <string.h>

int *first, *end, *before, *far;
int pair[2];
int numbers[4];

void *work(void *arg)
{
    int local[4];
    first = local;
    end = local + 4;
    before = local - 1;
    far = numbers + 100000;
    far = &numbers[3];
    int two[2] = {4, 1};
    memcpy(pair, two, sizeof pair);
    long both;
    memcpy(&both, pair, sizeof both);
    assert(both == 0);
    return 0;
}

int main(void)
{
    pthread_t thread;
    int outer[2] = {1, 2};
    first = outer;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
