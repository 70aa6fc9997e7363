// Time passes for whoever waits for it: by sleeping, yielding, or just looking at a clock, once in each round or twice.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

static int rounds;

static void *wait_in_all_ways(void *arg) {
    double end = now() + 5;
    while (now() < end)
        usleep(100);
    end = now() + 0.1;
    int went_round = 0;
    while (now() < end) {
        went_round = 1;
        sched_yield();
    }
    assert(went_round);
    for (int i = 0; i < 10; i++) {
        end = now() + 3600;
        while (now() < end)
            assert(now() < end + 86400);
        rounds++;
    }
    time_t start = time(0);
    while (time(0) < start + 2)
        sleep(1);
    struct timeval a, b;
    gettimeofday(&a, 0);
    do
        gettimeofday(&b, 0);
    while (b.tv_sec <= a.tv_sec);
    clock_t used = clock();
    while (clock() < used + 3 * CLOCKS_PER_SEC)
        ;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, wait_in_all_ways, 0);
    // Sleeping takes as long as it is asked to, or longer.
    double start = now();
    sleep(2);
    assert(now() > start + 2);
    start = now();
    struct timespec duration = {1, 500000000}, until;
    nanosleep(&duration, 0);
    usleep(1000);
    assert(now() > start + 1.5);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 7;
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, 0);
    assert(time(0) >= until.tv_sec);
    pthread_join(t, 0);
    assert(rounds == 10);
    return 0;
}
