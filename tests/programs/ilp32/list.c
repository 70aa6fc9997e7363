// raddle: -- -m32
// Blocks that are linked by pointers of four bytes, also read and compared as numbers of 32 bits.
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
} pthread_mutex_t;
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
extern int pthread_mutex_lock(pthread_mutex_t *);
extern int pthread_mutex_unlock(pthread_mutex_t *);
extern void *malloc(size_t);
extern void free(void *);
extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));
#define assert(x) ((x) ? (void)0 : __assert_fail(#x, "list.c", __LINE__, "f"))

struct node {
    struct node *next;
    int value;
};

static struct node *head;
static pthread_mutex_t mutex = {{0}};

static void push(int value) {
    struct node *node = malloc(sizeof(struct node));
    node->value = value;
    pthread_mutex_lock(&mutex);
    node->next = head;
    head = node;
    pthread_mutex_unlock(&mutex);
}

static void *pusher(void *arg) {
    push((int)arg);
    return arg;
}

int main(void) {
    pthread_t a, b;
    void *result;
    pthread_create(&a, 0, pusher, (void *)1);
    pthread_create(&b, 0, pusher, (void *)2);
    pthread_join(a, &result);
    assert(result == (void *)1);
    pthread_join(b, &result);
    assert((int)result == 2);
    assert(sizeof(struct node) == 8);
    int sum = 0;
    while (head) {
        struct node *node = head;
        unsigned number = (unsigned)node;
        assert((struct node *)number == node && (number & 15) == 0);
        assert(&node->value == (int *)(number + 4));
        sum += node->value;
        head = node->next;
        free(node);
    }
    assert(sum == 3);
    return 0;
}
