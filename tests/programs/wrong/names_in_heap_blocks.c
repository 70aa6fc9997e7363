// What code takes memory for decides what its parts are called: a pool hands out pieces of one block for all kinds of things,
// and a pointer to the first member says nothing about the rest.
// raddle: --full
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct job { int inactive; struct job *next; };
struct message { long index; char text[8]; };
struct numbers { int count; int data[]; };
union value { int i; float f; struct { short low, high; }; };
struct cell { union value value; void *any; };

static char *pool;
static atomic_size_t used;
static void *blocks[2];
struct job *jobs;
struct cell *cell;
struct numbers *numbers;

void *take(size_t size) { return pool + atomic_fetch_add(&used, size); }

void *work(void *arg)
{
    struct message *message = take(sizeof *message);
    message->index = 7;
    message->text[1] = 'x';
    jobs->inactive = 1;
    cell->value.high = 3;
    cell->any = message;
    numbers->data[2] = 5;
    uint32_t *indices = blocks[0];
    indices[1] = 4;
    return 0;
}

int main(void)
{
    pthread_t thread;
    pool = malloc(256);
    jobs = take(sizeof *jobs);
    jobs->next = take(sizeof *jobs);
    jobs->next->inactive = 4;
    cell = malloc(sizeof *cell);
    numbers = malloc(sizeof *numbers + 4 * sizeof(int));
    cell->value.f = 1.5f;
    numbers->count = 4;
    blocks[0] = malloc(16);
    blocks[1] = malloc(3 * sizeof(struct job));
    struct job *list = blocks[1];
    list[2].inactive = 1;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    assert(numbers->data[2] != 5 && "data was changed");
}
