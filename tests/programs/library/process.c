// Functions at exit run backwards; time stands still; the environment is empty.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int runs;

static void last(void) { assert(runs == 1); }
static void first(void) { runs++; }

int main(void) {
    struct timespec now;
    assert(atexit(last) == 0 && atexit(first) == 0);
    assert(getenv("RADDLE_NO_SUCH_VARIABLE") == 0 && getpid() == getpid());
    assert(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    assert(sysconf(_SC_NPROCESSORS_ONLN) > 0 && time(0) > 0);
    exit(runs);
}
