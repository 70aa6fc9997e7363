// Two threads write different fields and elements of one object: no race.
#include <assert.h>
#include <pthread.h>

struct pair {
    int left;
    struct {
        char tag;
        short numbers[2];
    } right;
};

static struct pair shared;

static void *write_right(void *arg) {
    struct pair *p = arg;
    p->right.numbers[1] = 7;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, write_right, &shared);
    shared.left = 3;
    shared.right.numbers[0] = 4;
    pthread_join(t, 0);
    struct pair copy = shared;
    assert(copy.left == 3 && copy.right.numbers[0] == 4 && copy.right.numbers[1] == 7);
    return 0;
}
