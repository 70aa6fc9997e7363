// A text in an assertion says itself what it is.
// raddle: --keep-going
#include <assert.h>
#include <pthread.h>

void *work(void *arg)
{
    assert(!"not implemented");
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    int number = 3;
    assert("three" && number != 3);
}
