#include "CV4L2.h"

#include <dlfcn.h>
#include <libv4l2.h>
#include <pthread.h>

// libv4l2 is loaded when a camera is first opened: few commands need it.
static struct {
    __typeof__(v4l2_fd_open) *fd_open;
    __typeof__(v4l2_ioctl) *ioctl;
    __typeof__(v4l2_close) *close;
    __typeof__(v4l2_mmap) *mmap;
    __typeof__(v4l2_munmap) *munmap;
} library;
static _Bool loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libv4l2.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    loaded = 1;
#define FETCH(name) if (!(library.name = (__typeof__(library.name))dlsym(handle, "v4l2_" #name))) loaded = 0;
    FETCH(fd_open)
    FETCH(ioctl)
    FETCH(close)
    FETCH(mmap)
    FETCH(munmap)
#undef FETCH
}

int vaenc_v4l2_open(const char *path, int flags, _Bool converts) {
    int descriptor = open(path, flags);
    if (descriptor < 0) return -1;
    pthread_once(&once, load);
    int opened = -1;
    if (loaded) opened = library.fd_open(descriptor, converts ? 0 : V4L2_DISABLE_CONVERSION);
    else errno = ELIBACC;
    if (opened < 0) {
        int code = errno;
        close(descriptor);
        errno = code;
    }
    return opened;
}

int vaenc_v4l2_ioctl(int descriptor, unsigned long request, void *argument) { return library.ioctl(descriptor, request, argument); }
int vaenc_v4l2_close(int descriptor) { return library.close(descriptor); }

void *vaenc_v4l2_mmap(size_t length, int protection, int flags, int descriptor, int64_t offset) {
    return library.mmap(0, length, protection, flags, descriptor, offset);
}

int vaenc_v4l2_munmap(void *start, size_t length) { return library.munmap(start, length); }
