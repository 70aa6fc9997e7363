// The string functions agree with what every C library does.
#define _GNU_SOURCE
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char shared[32];

int main(void) {
    char text[16] = "warp";
    assert(strlen("") == 0 && strlen(text) == 4 && strnlen("weft", 2) == 2);
    assert(strcpy(shared, "weft") == shared && strcmp(shared, "weft") == 0);
    assert(stpcpy(text, "comb") == text + 4);
    memset(text, 'x', sizeof text);
    assert(strncpy(text, "ab", 5) == text && text[2] == 0 && text[4] == 0 && text[5] == 'x');
    strncpy(text, "abcdef", 3);
    assert(memcmp(text, "abc\0\0x", 6) == 0);
    strcpy(text, "lo");
    assert(strcat(text, "om") == text && strcmp(text, "loom") == 0);
    strncat(text, "spinner", 4);
    assert(strcmp(text, "loomspin") == 0);
    assert(strcmp("a", "b") < 0 && strcmp("b", "a") > 0 && strcmp("a", "ab") < 0 && strcmp("\xff", "a") > 0);
    assert(strncmp("abc", "abd", 2) == 0 && strncmp("abc", "abd", 3) < 0 && strncmp("x", "y", 0) == 0);
    assert(strcasecmp("LooM", "lOOm") == 0 && strncasecmp("ABx", "aby", 2) == 0);
    assert(strchr(text, 'o') == text + 1 && strrchr(text, 'o') == text + 2 && !strchr(text, 'z'));
    assert(strchr(text, 0) == text + 8 && strrchr(text, 0) == text + 8 && strchrnul(text, 'z') == text + 8);
    assert(strstr(text, "spin") == text + 4 && strstr(text, "") == text && !strstr(text, "spun"));
    assert(strpbrk(text, "sm") == text + 3 && strspn(text, "lo") == 3 && strcspn(text, "ps") == 4);
    assert(memchr("abc", 'c', 3) && !memchr("abc", 'c', 2) && memrchr(text, 'o', 8) == text + 2);
    assert(memcmp("abc", "abd", 3) < 0 && memcmp("abc", "abd", 2) == 0 && memcmp("\x80", "\x7f", 1) > 0);
    assert(bcmp("abc", "abc", 3) == 0);
    memmove(text + 2, text, 6);
    assert(strncmp(text, "lolooms", 7) == 0);
    memmove(text, text + 2, 6);
    assert(strncmp(text, "loomsp", 6) == 0);
    assert(mempcpy(shared, "abcdefghij", 10) == shared + 10);
    memmove(shared + 1, shared, 9);
    assert(memcmp(shared, "aabcdefghi", 10) == 0);
    bzero(shared, 5);
    assert(shared[4] == 0 && shared[5] == 'e');

    char *copy = strdup("thread");
    assert(strcmp(copy, "thread") == 0);
    free(copy);
    copy = strndup("thread", 3);
    assert(strcmp(copy, "thr") == 0);
    free(copy);

    char list[] = " one, two,,three ";
    char *place;
    assert(strcmp(strtok_r(list, " ,", &place), "one") == 0);
    assert(strcmp(strtok_r(0, " ,", &place), "two") == 0);
    assert(strcmp(strtok_r(0, " ,", &place), "three") == 0);
    assert(strtok_r(0, " ,", &place) == 0);
    char more[] = "a b";
    assert(strcmp(strtok(more, " "), "a") == 0 && strcmp(strtok(0, " "), "b") == 0 && !strtok(0, " "));
    return 0;
}
