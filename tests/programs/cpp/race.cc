// new and delete, and a race on a member.
#include <pthread.h>

struct Box {
    int content = 1;
};

static void *worker(void *arg) {
    static_cast<Box *>(arg)->content = 2;
    return nullptr;
}

int main() {
    Box *box = new Box;
    pthread_t t;
    pthread_create(&t, nullptr, worker, box);
    int seen = box->content;
    pthread_join(t, nullptr);
    delete box;
    return seen == 0;
}
