// raddle: -- -m32
// engines: dpor, rf, rvf, mcr
// Synchronisation objects as the C library of i386 has them: their sizes, and what their static initialisers say.
typedef unsigned int size_t;
typedef unsigned long pthread_t;
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
typedef union {
    unsigned data[12];
    char size[48];
    long long align;
} pthread_cond_t;
typedef union {
    char size[32];
    long align;
} pthread_rwlock_t;
typedef union {
    char size[20];
    long align;
} pthread_barrier_t;
typedef union {
    char size[16];
    long align;
} sem_t;
typedef union {
    char size[36];
    long align;
} pthread_attr_t;
typedef int pthread_once_t;
typedef unsigned pthread_key_t;
extern int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
extern int pthread_attr_init(pthread_attr_t *);
extern int pthread_attr_getstacksize(const pthread_attr_t *, size_t *);
extern int pthread_attr_setstacksize(pthread_attr_t *, size_t);
extern int pthread_mutex_lock(pthread_mutex_t *);
extern int pthread_mutex_unlock(pthread_mutex_t *);
extern int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
extern int pthread_cond_signal(pthread_cond_t *);
extern int pthread_rwlock_rdlock(pthread_rwlock_t *);
extern int pthread_rwlock_wrlock(pthread_rwlock_t *);
extern int pthread_rwlock_unlock(pthread_rwlock_t *);
extern int pthread_barrier_init(pthread_barrier_t *, const void *, unsigned);
extern int pthread_barrier_wait(pthread_barrier_t *);
extern int pthread_once(pthread_once_t *, void (*)(void));
extern int pthread_key_create(pthread_key_t *, void (*)(void *));
extern int pthread_setspecific(pthread_key_t, const void *);
extern void *pthread_getspecific(pthread_key_t);
extern int sem_init(sem_t *, int, unsigned);
extern int sem_wait(sem_t *);
extern int sem_post(sem_t *);
extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));
#define assert(x) ((x) ? (void)0 : __assert_fail(#x, "locks.c", __LINE__, "f"))

// Behind each object is one that it must leave alone.
static struct {
    pthread_mutex_t mutex;
    int behind_mutex;
    pthread_mutex_t recursive;
    int behind_recursive;
    pthread_cond_t cond;
    int behind_cond;
    pthread_rwlock_t rwlock;
    int behind_rwlock;
    sem_t sem;
    int behind_sem;
    pthread_barrier_t barrier;
    int behind_barrier;
} all = {.recursive = {{0, 0, 0, 1, 0, 0}}};
static pthread_once_t once;
static pthread_key_t key;
static int ready, value, made;

static void make(void) {
    made++;
    pthread_key_create(&key, 0);
}

static void *worker(void *arg) {
    pthread_once(&once, make);
    assert(made == 1 && pthread_getspecific(key) == 0);
    pthread_setspecific(key, &made);
    assert(pthread_getspecific(key) == &made);
    sem_wait(&all.sem);
    pthread_mutex_lock(&all.recursive);
    pthread_mutex_lock(&all.recursive);
    value++;
    pthread_mutex_unlock(&all.recursive);
    pthread_mutex_unlock(&all.recursive);
    pthread_rwlock_wrlock(&all.rwlock);
    all.behind_rwlock++;
    pthread_rwlock_unlock(&all.rwlock);
    pthread_mutex_lock(&all.mutex);
    ready = 1;
    pthread_cond_signal(&all.cond);
    pthread_mutex_unlock(&all.mutex);
    pthread_barrier_wait(&all.barrier);
    return arg;
}

int main(void) {
    assert(sizeof all == 24 + 4 + 24 + 4 + 48 + 4 + 32 + 4 + 16 + 4 + 20 + 4);
    pthread_t thread;
    pthread_attr_t attributes;
    size_t size[2] = {1, 2};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    pthread_attr_getstacksize(&attributes, &size[0]);
    assert(size[0] == 1 << 16 && size[1] == 2);
    pthread_barrier_init(&all.barrier, 0, 2);
    sem_init(&all.sem, 0, 0);
    pthread_create(&thread, &attributes, worker, 0);
    sem_post(&all.sem);
    pthread_mutex_lock(&all.mutex);
    while (!ready) {
        pthread_cond_wait(&all.cond, &all.mutex);
    }
    pthread_mutex_unlock(&all.mutex);
    pthread_rwlock_rdlock(&all.rwlock);
    assert(all.behind_rwlock == 1);
    pthread_rwlock_unlock(&all.rwlock);
    pthread_barrier_wait(&all.barrier);
    pthread_join(thread, 0);
    assert(value == 1 && all.behind_mutex + all.behind_recursive + all.behind_cond + all.behind_sem + all.behind_barrier == 0);
    return 0;
}
