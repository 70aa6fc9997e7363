// raddle: -- -m32
// A lock-free stack whose pointers are swapped as pointers, and as numbers: its nodes are freed too early.
typedef unsigned int size_t;
typedef unsigned long pthread_t;
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
extern void *malloc(size_t);
extern void free(void *);

struct node {
    struct node *next;
    int value;
};
static struct node *_Atomic top;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = top;
    while (!__c11_atomic_compare_exchange_strong(&top, &node->next, node, 5, 5)) {
    }
}

static void *pop(void *arg) {
    struct node *node = top;
    while (node && !__c11_atomic_compare_exchange_strong(&top, &node, node->next, 5, 5)) {
    }
    if (node) {
        free(node);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    push(1);
    pthread_create(&a, 0, pop, 0);
    pthread_create(&b, 0, pop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
