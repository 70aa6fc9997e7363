// The heap and the string functions, with a block handed from thread to thread.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *greet(void *arg) {
    char *name = arg;
    char *text = malloc(strlen(name) + 8);
    strcpy(text, "hello, ");
    strcat(text, name);
    return text;
}

int main(void) {
    pthread_t t;
    void *result;
    char name[] = "loom";
    pthread_create(&t, 0, greet, name);
    pthread_join(t, &result);
    char *text = result;
    assert(strcmp(text, "hello, loom") == 0 && memchr(text, ',', 8) == text + 5);
    text = realloc(text, 64);
    memset(text, 'x', 63);
    assert(text[62] == 'x');
    free(text);
    int *zeros = calloc(4, sizeof *zeros);
    assert(zeros[3] == 0);
    free(zeros);
    return 0;
}
