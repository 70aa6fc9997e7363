// A table is cleared with memset, the lock inside it as well, while another thread uses it.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct table {
    pthread_rwlock_t lock;
    int entries[2];
};

static void *reader(void *arg) {
    struct table *table = arg;
    pthread_rwlock_rdlock(&table->lock);
    pthread_rwlock_unlock(&table->lock);
    return 0;
}

int main(void) {
    struct table *table = calloc(1, sizeof *table);
    pthread_rwlock_init(&table->lock, 0);
    pthread_t thread;
    pthread_create(&thread, 0, reader, table);
    memset(table, 0, sizeof *table);
    pthread_join(thread, 0);
    free(table);
}
