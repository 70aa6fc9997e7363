// stringbuf: one thread appends a buffer to another while a second thread empties it. With BUG the length is asked for, and
// the characters are fetched, in two critical sections.
//
// After "StringBuf" of maximal causality reduction (PLDI 2015): three threads, an index that is out of bounds.

#include <assert.h>
#include <pthread.h>

#define SIZE 4

struct buffer {
    pthread_mutex_t lock;
    int length;
    char characters[SIZE];
};

static struct buffer source;
static struct buffer target;

static int length_of(struct buffer *buffer) {
    pthread_mutex_lock(&buffer->lock);
    int length = buffer->length;
    pthread_mutex_unlock(&buffer->lock);
    return length;
}

static void copy(struct buffer *from, struct buffer *to, int length) {
    assert(length <= from->length);
    for (int i = 0; i < length; i++) {
        to->characters[to->length + i] = from->characters[i];
    }
    to->length += length;
}

static void *append(void *unused) {
#ifdef BUG
    int length = length_of(&source);
    pthread_mutex_lock(&source.lock);
#else
    pthread_mutex_lock(&source.lock);
    int length = source.length;
#endif
    copy(&source, &target, length);
    pthread_mutex_unlock(&source.lock);
    return unused;
}

static void *empty(void *unused) {
    if (length_of(&source) > 0) {
        pthread_mutex_lock(&source.lock);
        source.length = 0;
        pthread_mutex_unlock(&source.lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_mutex_init(&source.lock, 0);
    pthread_mutex_init(&target.lock, 0);
    source.length = 3;
    for (int i = 0; i < source.length; i++) {
        source.characters[i] = 'a';
    }
    pthread_create(&threads[0], 0, append, 0);
    pthread_create(&threads[1], 0, empty, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
