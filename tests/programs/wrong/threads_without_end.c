// raddle: --check assert
// engines: bmc
// Readers and writers without number: `main` never stops starting them. A reader leaves without a lock and overwrites what others
// have counted meanwhile, so that a writer comes in while somebody reads.
#include <assert.h>
#include <pthread.h>

void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static int writing;
static int reading;
static int data;

static void *write_data(void *unused) {
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(!writing && reading == 0);
    writing = 1;
    __VERIFIER_atomic_end();
    data = 3;
    writing = 0;
    return unused;
}

static void *read_data(void *unused) {
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(!writing);
    reading++;
    __VERIFIER_atomic_end();
    int seen = data;
    assert(seen == data);
    int others = reading - 1;
    reading = others;
    return unused;
}

int main(void) {
    for (;;) {
        pthread_t thread;
        pthread_create(&thread, 0, write_data, 0);
        pthread_create(&thread, 0, read_data, 0);
    }
}
