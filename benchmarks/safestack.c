// safestack: threads pop items from a lock-free stack of three, mark them and push them back. Its ABA error needs three
// threads and at least five context switches.
//
// Awaiting for Godot (FMCAD 2022), table II; the stack is one that was posted to the CHESS forum, kept in SCTBench.
// A, B and C are the numbers of operations of the threads: 1 is a pop, 2 a pop and a push, and so on.
// With BOUND, loops are cut. With NO_ASSERT nothing is judged.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#ifndef A
#define A 2
#endif
#ifndef B
#define B 1
#endif
#ifndef C
#define C 0
#endif
#define ITEMS 3
#ifdef BOUND
#define FOREVER for (int k_ = 0;; __VERIFIER_assume(++k_ < BOUND))
#else
#define FOREVER for (;;)
#endif

struct item {
    atomic_int value;
    atomic_int next;
};

static struct item items[ITEMS];
static atomic_int head;
static atomic_int count;

/* An item, or -1 if there is at most one left. */
static int try_pop(void) {
    FOREVER {
        if (atomic_load(&count) <= 1) {
            return -1;
        }
        int first = atomic_load(&head);
        int next = atomic_exchange(&items[first].next, -1);
        if (next >= 0) {
            int expected = first;
            if (atomic_compare_exchange_strong(&head, &expected, next)) {
                atomic_fetch_sub(&count, 1);
                return first;
            }
            atomic_exchange(&items[first].next, next);
        }
    }
}

static int pop(void) {
    int item;
    FOREVER {
        item = try_pop();
        if (item >= 0) {
            break;
        }
    }
    return item;
}

static void push(int item) {
    FOREVER {
        int first = atomic_load(&head);
        atomic_store(&items[item].next, first);
        if (atomic_compare_exchange_strong(&head, &first, item)) {
            break;
        }
    }
    atomic_fetch_add(&count, 1);
}

static void work(int id, int operations) {
    int item = 0;
    for (int i = 0; i < operations; i++) {
        if (i % 2 != 0) {
            push(item);
            continue;
        }
        item = pop();
        atomic_store(&items[item].value, id);
        int value = atomic_load(&items[item].value);
#ifdef NO_ASSERT
        (void)value;
#else
        assert(value == id);
#endif
    }
}

static void *first(void *unused) {
    work(1, A);
    return unused;
}

static void *second(void *unused) {
    work(2, B);
    return unused;
}

static void *third(void *unused) {
    work(3, C);
    return unused;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < ITEMS; i++) {
        atomic_init(&items[i].next, i + 1 < ITEMS ? i + 1 : -1);
    }
    atomic_init(&head, 0);
    atomic_init(&count, ITEMS);
    pthread_create(&thread, 0, first, 0);
    pthread_create(&thread, 0, second, 0);
    if (C > 0) {
        pthread_create(&thread, 0, third, 0);
    }
    return 0;
}
