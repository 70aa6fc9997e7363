// A field that nobody has written is copied, and nothing depends on it.
// raddle: --check assert,memory
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct message {
    int kind;
    int unused;
};
struct message last;

static void *receive(void *arg) {
    struct message own = *(struct message *)arg;
    last = own;
    assert(last.kind == 1);
    return 0;
}

int main(void) {
    struct message *message = malloc(sizeof *message);
    message->kind = 1;
    pthread_t thread;
    pthread_create(&thread, 0, receive, message);
    pthread_join(thread, 0);
    free(message);
}
