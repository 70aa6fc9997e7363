// More threads than fit side by side: the timeline becomes a list, and what fails takes several lines.
// engines: rf, rvf
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int number_of_requests_that_were_served;

static void *serve_one_request_and_count_it(void *arg) {
    int before = atomic_load(&number_of_requests_that_were_served);
    atomic_store(&number_of_requests_that_were_served, before + 1);
    return arg;
}

int main(void) {
    pthread_t threads[6];
    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], 0, serve_one_request_and_count_it, 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], 0);
    assert(number_of_requests_that_were_served > 5 && number_of_requests_that_were_served < 7);
    return 0;
}
