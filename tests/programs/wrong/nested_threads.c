// Threads that threads start: which of them is found first depends on the engine, their names do not.
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int x, y, z;
void *c(void *p) { atomic_fetch_add(&x, 1); return 0; }
void *d(void *p) { int s = x; if (s == 0) y = 1; return 0; }
void *a(void *p) { pthread_t t; if (z) { pthread_create(&t,0,c,0); pthread_join(t,0); if (y) assert(0);} return 0; }
void *b(void *p) { pthread_t t; z = 1; int s = y; (void)s; pthread_create(&t,0,d,0); pthread_join(t,0); return 0; }
int main(void) { pthread_t s, t; pthread_create(&s,0,a,0); pthread_create(&t,0,b,0); pthread_join(s,0); pthread_join(t,0); }
