// Values are shown as the source would write them: pointers, characters, truth values, enumerators, functions, strings.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum state { IDLE, RUNNING = 5 };
struct node {
    int value;
    struct node *next;
};

static struct node pool[3];
static struct node *_Atomic top;
static _Atomic enum state state;
static _Atomic char letter;
static _Atomic bool ready;
static _Atomic double ratio;
static const char *_Atomic message;
static void *(*_Atomic callback)(void *);
static _Atomic(long *) numbers;

static void *writer(void *arg) {
    long *local = malloc(3 * sizeof *local);
    local[2] = -1;
    atomic_store(&numbers, &local[2]);
    atomic_store(&state, RUNNING);
    atomic_store(&letter, '\n');
    atomic_store(&message, "a text of many, many words");
    atomic_store(&ratio, 0.5);
    atomic_store(&callback, writer);
    atomic_store(&top, &pool[1]);
    atomic_store(&ready, true);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, writer, &pool[0].next);
    bool seen = atomic_load(&ready);
    long *last = atomic_load(&numbers);
    if (last)
        *last += 1;
    pthread_join(t, NULL);
    assert(!seen);
    return 0;
}
