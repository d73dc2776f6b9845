// V4L2 through libv4l2. The request codes are macros that Swift does not see: each is a constant here.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <libv4l2.h>
#include <linux/videodev2.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define VAENC_REQUEST(name) static inline unsigned long vaenc_##name(void) { return name; }
VAENC_REQUEST(VIDIOC_QUERYCAP)
VAENC_REQUEST(VIDIOC_ENUM_FMT)
VAENC_REQUEST(VIDIOC_ENUM_FRAMESIZES)
VAENC_REQUEST(VIDIOC_ENUM_FRAMEINTERVALS)
VAENC_REQUEST(VIDIOC_G_FMT)
VAENC_REQUEST(VIDIOC_S_FMT)
VAENC_REQUEST(VIDIOC_TRY_FMT)
VAENC_REQUEST(VIDIOC_G_PARM)
VAENC_REQUEST(VIDIOC_S_PARM)
VAENC_REQUEST(VIDIOC_REQBUFS)
VAENC_REQUEST(VIDIOC_QUERYBUF)
VAENC_REQUEST(VIDIOC_QBUF)
VAENC_REQUEST(VIDIOC_DQBUF)
VAENC_REQUEST(VIDIOC_EXPBUF)
VAENC_REQUEST(VIDIOC_STREAMON)
VAENC_REQUEST(VIDIOC_STREAMOFF)
VAENC_REQUEST(VIDIOC_ENUMINPUT)
VAENC_REQUEST(VIDIOC_G_INPUT)
VAENC_REQUEST(VIDIOC_S_INPUT)
VAENC_REQUEST(VIDIOC_SUBSCRIBE_EVENT)
VAENC_REQUEST(VIDIOC_DQEVENT)
#undef VAENC_REQUEST

/// v4l2_ioctl is variadic, which Swift cannot call.
static inline int vaenc_v4l2_ioctl(int descriptor, unsigned long request, void *_Nullable argument) {
    return v4l2_ioctl(descriptor, request, argument);
}
/// Opens a device through libv4l2: its plug-ins always, its conversions where they are wanted. Those would also stand
/// between a program and formats that need none: copies without the rows' padding, and without DMA-BUFs.
static inline int vaenc_v4l2_open(const char *_Nonnull path, int flags, _Bool converts) {
    int descriptor = open(path, flags);
    if (descriptor < 0) return -1;
    int opened = v4l2_fd_open(descriptor, converts ? 0 : V4L2_DISABLE_CONVERSION);
    if (opened < 0) {
        int code = errno;
        close(descriptor);
        errno = code;
    }
    return opened;
}

/// A descriptor that a poll wakes from; -1 where there is none to be had.
static inline int vaenc_wake_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
/// Whether QUERYBUF gave a buffer of libv4l2's own, into which it converts: such offsets are no device's.
static inline _Bool vaenc_is_converted(unsigned offset, unsigned index) { return offset == 0xabcdef00u + index; }

/// Has ALSA's library, where there is one, write no lines of its own to stderr on the calling thread: errors tell.
void vaenc_hush_alsa(void);
