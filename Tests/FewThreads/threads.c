// A library for LD_PRELOAD that limits the number of threads, besides the first, to MOST_THREADS. At the limit,
// pthread_create fails with EAGAIN, as under a limit of processes (RLIMIT_NPROC), which does not apply to root.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int count;

struct start {
    void *(*run)(void *);
    void *context;
};

static void *follow(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    void *result = start.run(start.context);
    atomic_fetch_sub(&count, 1);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
    typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create *own = (create *)dlsym(RTLD_NEXT, "pthread_create");
    const char *most = getenv("MOST_THREADS");
    struct start *start = malloc(sizeof *start);
    if (!start || !own) {
        free(start);
        return EAGAIN;
    }
    *start = (struct start){run, context};
    int code = EAGAIN;
    if (atomic_fetch_add(&count, 1) < (most ? atoi(most) : 1 << 30)) code = own(thread, attributes, follow, start);
    if (code) {
        atomic_fetch_sub(&count, 1);
        free(start);
    }
    return code;
}
