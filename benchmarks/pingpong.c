// pingpong: three threads play with a player that two others take away. With BUG they look whether there is a player, and
// then fetch it; otherwise they fetch it once.
//
// After "PingPong" of maximal causality reduction (PLDI 2015): six threads, a null pointer is dereferenced. There are seven
// races with BUG: on the pointer (two reads with the write, the writes) and on each of the player's counters (its read with
// its write, the writes).

#include <pthread.h>

#define PLAYING 3
#define LEAVING 2

struct player {
    int points;
    int turns;
};

static struct player first;
static struct player *player = &first;

static void *play(void *unused) {
#ifdef BUG
    if (!player) {
        return unused;
    }
    struct player *own = player;
#else
    struct player *own = player;
    if (!own) {
        return unused;
    }
#endif
    own->points = own->points + 1;
    own->turns = own->turns + 1;
    return unused;
}

static void *leave(void *unused) {
    player = 0;
    return unused;
}

int main(void) {
    pthread_t threads[PLAYING + LEAVING];
    for (int i = 0; i < PLAYING + LEAVING; i++) {
        pthread_create(&threads[i], 0, i < PLAYING ? play : leave, 0);
    }
    for (int i = 0; i < PLAYING + LEAVING; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
