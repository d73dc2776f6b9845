// Simulates the kernel's udmabuf device (linux/udmabuf.h), for LD_PRELOAD: /dev/udmabuf exists for one program. It refuses
// what the kernel refuses. A DMA-BUF is another descriptor of the program's memfd, so that it can be mapped.
//
// FAKE_UDMABUF is one of:
//   works    the device works
//   absent   there is no device
//   denied   the device may not be opened
//   refuses  it makes no DMA-BUF
//   other    each DMA-BUF has memory of its own, which the program's writes do not reach
//   lost     DMA_BUF_IOCTL_SYNC fails at the end of the third access
//   failing  it fails at the end of the third access and of all later ones
//   unusable it fails at the beginning of each access
// FAKE_UDMABUF_LOG is a file to which each process appends a line at its end: the numbers of buffers, and of accesses that
// began and ended.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char node[] = "/dev/udmabuf", stand_in[] = "/dev/null";

enum { MOST = 4096, PAGE = 4096 };
static const uint64_t limit = 64 << 20;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// The inodes of the DMA-BUFs, and whether an access to them has begun before.
static ino_t buffers[MOST];
static char begun[MOST];
static int count, starts, ends;

static int is(const char *mode) {
    const char *value = getenv("FAKE_UDMABUF");
    return value && !strcmp(value, mode);
}

static int fail(int code) {
    errno = code;
    return -1;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        static int (*next)(const char *, int, ...); \
        if (!next) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
        va_list list; \
        va_start(list, flags); \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0; \
        va_end(list); \
        if (strcmp(path, node)) return next(path, flags, mode); \
        if (is("absent")) return fail(ENOENT); \
        if (is("denied")) return fail(EACCES); \
        return next(stand_in, flags, mode); \
    }
OPEN(open)
OPEN(open64)

static int make(const struct udmabuf_create *request) {
    int seals = fcntl((int)request->memfd, F_GET_SEALS);
    if (seals < 0) return fail(EBADFD);
    if (is("refuses") || request->offset % PAGE || request->size % PAGE || !request->size || request->size > limit) return fail(EINVAL);
    if (!(seals & F_SEAL_SHRINK) || seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) return fail(EINVAL);
    int buffer = is("other") ? memfd_create("other", MFD_CLOEXEC)
                             : fcntl((int)request->memfd, request->flags & UDMABUF_FLAGS_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
    if (buffer < 0) return -1;
    struct stat status;
    if (is("other") && ftruncate(buffer, (off_t)request->size)) abort();
    if (fstat(buffer, &status)) abort();
    pthread_mutex_lock(&lock);
    if (count == MOST) abort();
    buffers[count++] = status.st_ino;
    pthread_mutex_unlock(&lock);
    return buffer;
}

// Returns -2 if the descriptor is of no DMA-BUF.
static int synchronize(int descriptor, uint64_t flags) {
    struct stat status;
    if (fstat(descriptor, &status)) return -2;
    int result = -2;
    pthread_mutex_lock(&lock);
    // An inode can be used again for a later buffer.
    for (int index = count - 1; index >= 0 && result == -2; index--) {
        if (buffers[index] != status.st_ino) continue;
        result = 0;
        if (flags & ~(uint64_t)DMA_BUF_SYNC_VALID_FLAGS_MASK || !(flags & DMA_BUF_SYNC_RW)) result = fail(EINVAL);
        else if (!(flags & DMA_BUF_SYNC_END)) {
            begun[index] = 1, starts++;
            if (is("unusable")) result = fail(EIO);
        } else if (!begun[index]) result = fail(EINVAL);
        else if ((++ends == 3 && is("lost")) || (ends >= 3 && is("failing"))) result = fail(EIO);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int ioctl(int descriptor, unsigned long request, ...) {
    static int (*next)(int, unsigned long, ...);
    if (!next) next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (request == UDMABUF_CREATE) return make(argument);
    if (request == DMA_BUF_IOCTL_SYNC) {
        int result = synchronize(descriptor, ((struct dma_buf_sync *)argument)->flags);
        if (result != -2) return result;
    }
    return next(descriptor, request, argument);
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("FAKE_UDMABUF_LOG");
    FILE *file = path ? fopen(path, "a") : 0;
    if (!file) return;
    fprintf(file, "{\"buffers\":%d,\"starts\":%d,\"ends\":%d}\n", count, starts, ends);
    fclose(file);
}
