// raddle: -- -m32
// The kind of a mutex lies elsewhere on i386 than in 64 bits: where that of a recursive one is there, this one is a normal one.
typedef union {
    struct {
        int lock;
        unsigned count;
        int owner;
        int kind;
        unsigned users;
        int spins;
    } data;
    char size[24];
    long align;
} pthread_mutex_t;
extern int pthread_mutex_lock(pthread_mutex_t *);
static pthread_mutex_t mutex = {{0, 0, 0, 0, 1, 0}};

int main(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    return 0;
}
