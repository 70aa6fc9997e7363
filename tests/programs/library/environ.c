// Where nothing is in the environment, and nobody puts anything there, the list of its variables is empty.
#include <assert.h>
#include <stdlib.h>

extern char **environ;

int main(void) {
    int count = 0;
    for (char **variable = environ; *variable; variable++)
        count++;
    assert(count == 0);
    assert(!getenv("HOME"));
    return 0;
}
