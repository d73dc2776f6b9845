// Simulates a system without FFmpeg's libraries, for LD_PRELOAD: dlopen(3) and access(2) find none of them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static int is_hidden(const char *path) { return path && (strstr(path, "libav") || strstr(path, "libsw")); }

void *dlopen(const char *path, int flags) {
    static void *(*next)(const char *, int);
    if (!next) next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return is_hidden(path) ? 0 : next(path, flags);
}

int access(const char *path, int mode) {
    static int (*next)(const char *, int);
    if (!next) next = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");
    if (!is_hidden(path)) return next(path, mode);
    errno = ENOENT;
    return -1;
}
